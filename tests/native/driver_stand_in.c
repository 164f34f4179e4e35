// A stand-in for CUDA's driver: it writes down the launches that it is asked for, and copies as late as it may,
// for the tests of `native.Launches` and `native.Transfers`.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local void* current = 0;
static int launches = 0, failing = -1;
static uint64_t kept[64][9];

int contexts_set = 0;

int cuGetErrorString(int error, const char** text) {
  *text = error == 201 ? "invalid device context" : "launch failed";
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int device) {
  *context = (void*)(uintptr_t)(100 + device);
  return 0;
}
int cuCtxGetCurrent(void** context) {
  *context = current;
  return 0;
}
int cuCtxSetCurrent(void* context) {
  current = context;
  ++contexts_set;
  return 0;
}
typedef struct {
  unsigned grid[3], block[3], shared;
  void* stream;
  struct {
    int id;
    char padding[4];
    int allowed;
    char others[60];
  }* attributes;
  unsigned number_of_attributes;
} Config;

static uint64_t* row_of(void* stream);
static void take_telling(void* stream, int64_t* number, int64_t* place);

// A kernel of this handle tells a number: it takes the address of one, and where to write it. That is done once
// it has been asked so often whether the stream is done.
enum { kTelling = 4242 };
int questions = 0, questions_before_it_tells = 0, status_of_stream = 600, launched_before_it_told = 0;
static int64_t *number_to_tell = 0, *place_to_tell = 0;
static void tell_if_it_is_time(void) {
  if (place_to_tell && questions >= questions_before_it_tells) {
    *place_to_tell = *number_to_tell;
    place_to_tell = 0;
  }
}
static void launch_telling(int64_t* number, int64_t* place) {
  launched_before_it_told += place_to_tell == place;
  number_to_tell = number;
  place_to_tell = place;
  questions = 0;
  tell_if_it_is_time();
}
int cuStreamQuery(void* stream) {
  if (!current) return 201;
  ++questions;
  tell_if_it_is_time();
  return place_to_tell ? status_of_stream : 0;
}

// The kernels of the test take an address, a structure of 24 bytes, and a number of 4 bytes.
int cuLaunchKernelEx(const Config* config, void* function, void** arguments, void** extra) {
  const unsigned *grid = config->grid, *block = config->block;
  if (!current) return 201;
  if (grid[1] != 1 || grid[2] != 1 || block[1] != 1 || block[2] != 1 || extra || launches == failing)
    return 719;
  if ((uintptr_t)function == kTelling) {
    take_telling(config->stream, *(int64_t**)arguments[0], *(int64_t**)arguments[1]);
    return 0;
  }
  uint64_t* row = row_of(config->stream);
  row[0] = (uintptr_t)function;
  row[1] = grid[0];
  row[2] = block[0];
  row[3] = config->shared;
  row[4] = (uintptr_t)config->stream;
  row[5] = *(uint64_t*)arguments[0];
  row[6] = ((uint64_t*)arguments[1])[2];
  row[7] = *(uint32_t*)arguments[2];
  row[8] = config->number_of_attributes == 1 && config->attributes->allowed == 1 ? config->attributes->id : 0;
  return 0;
}

// One graph, of launches that were recorded from a stream; its nodes are rows, too.
enum { kNodes = 8 };
static void* const own_stream = (void*)77;
static void* captured = 0;
static int nodes = 0, instances = 0, streams = 0, nodes_set = 0, graphs_launched = 0, capture_fails = 0;
static uint64_t recorded_rows[kNodes][9];
static void* node_handles[kNodes];
int caller_captures = 0;  // whether the caller's stream is being captured

static uint64_t* row_of(void* stream) {
  return captured && stream == captured ? recorded_rows[nodes++] : kept[launches++];
}

static int64_t *recorded_number = 0, *recorded_place = 0;
static void take_telling(void* stream, int64_t* number, int64_t* place) {
  if (!captured || stream != captured) {
    launch_telling(number, place);
    return;
  }
  recorded_number = number;
  recorded_place = place;
}

typedef struct {
  void* function;
  unsigned grid[3], block[3], shared;
  void **arguments, **extra, *kernel, *context;
} Node;

static int capture_mode = 0;
int thread_capture_mode(void) { return capture_mode; }
int cuThreadExchangeStreamCaptureMode(int* mode) {
  const int before = capture_mode;
  capture_mode = *mode;
  *mode = before;
  return 0;
}
int cuStreamCreate(void** stream, unsigned flags) {
  *stream = own_stream;
  ++streams;
  return flags == 1 ? 0 : 1;
}
int cuStreamDestroy_v2(void* stream) {
  --streams;
  return stream == own_stream ? 0 : 400;
}
int cuStreamIsCapturing(void* stream, int* status) {
  *status = caller_captures && stream != own_stream;
  return 0;
}
int cuStreamBeginCapture_v2(void* stream, int mode) {
  captured = stream;
  nodes = 0;
  recorded_place = 0;
  return mode == 2 ? 0 : 1;
}
int cuStreamGetCaptureInfo_v3(void* stream, int* status, uint64_t* id, void** graph, void*** ahead, void** edges,
                              size_t* count) {
  node_handles[nodes - 1] = recorded_rows[nodes - 1];
  *ahead = node_handles + nodes - 1;
  *count = capture_fails ? 2 : 1;
  return stream == captured ? 0 : 400;
}
int cuStreamEndCapture(void* stream, void** graph) {
  captured = 0;
  *graph = recorded_rows;
  return stream == own_stream ? 0 : 400;
}
int cuGraphInstantiateWithFlags(void** instance, void* graph, unsigned long long flags) {
  *instance = &instances;
  ++instances;
  if (capture_mode != 2) return 900;
  return graph == recorded_rows && flags == 0 ? 0 : 1;
}
int cuGraphExecKernelNodeSetParams_v2(void* instance, void* node, const Node* now) {
  uint64_t* row = node;
  ++nodes_set;
  if (row[0] != (uintptr_t)now->function || row[1] != now->grid[0] || row[2] != now->block[0] ||
      row[3] != now->shared || instance != &instances)
    return 1;
  row[5] = *(uint64_t*)now->arguments[0];
  row[6] = ((uint64_t*)now->arguments[1])[2];
  row[7] = *(uint32_t*)now->arguments[2];
  return 0;
}
int cuGraphLaunch(void* instance, void* stream) {
  if (!current || instance != &instances) return 201;
  ++graphs_launched;
  for (int node = 0; node < nodes; ++node) {
    memcpy(kept[launches], recorded_rows[node], sizeof kept[0]);
    kept[launches++][4] = (uintptr_t)stream;
  }
  if (recorded_place) launch_telling(recorded_number, recorded_place);
  return 0;
}
int cuGraphDestroy(void* graph) { return graph == recorded_rows ? 0 : 400; }
int cuGraphExecDestroy(void* instance) {
  --instances;
  return instance == &instances ? 0 : 400;
}
int number_of_graphs(void) { return instances; }
int number_of_streams(void) { return streams; }
int nodes_told(void) { return nodes_set; }
int graph_launches(void) { return graphs_launched; }
void begin_graphs(int fails) {
  capture_fails = fails;
  nodes_set = graphs_launched = caller_captures = 0;
}

int number_of_launches(void) { return launches; }
void copy_launch(int number, uint64_t* row) { memcpy(row, kept[number], sizeof kept[number]); }
void begin(void* context, int launch_that_fails) {
  current = context;
  launches = contexts_set = 0;
  failing = launch_that_fails;
}

// Copies of a stream, which are made when somebody waits for an event that was recorded after them.
enum { kCopies = 1 << 12, kEvents = 1 << 12 };
static struct {
  uint64_t target, source;
  size_t bytes;
} copies[kCopies];
static int copies_asked = 0, copies_made = 0, copy_that_fails = -1, events = 0, events_destroyed = 0;
static int recorded[kEvents];  // the copies asked for before, by event
static pthread_mutex_t stream_mutex = PTHREAD_MUTEX_INITIALIZER;

int cuMemcpyAsync(uint64_t target, uint64_t source, size_t bytes, void* stream) {
  if (!current) return 201;
  pthread_mutex_lock(&stream_mutex);
  const int fails = copies_asked == copy_that_fails || copies_asked == kCopies || stream != (void*)7;
  if (!fails) {
    copies[copies_asked].target = target;
    copies[copies_asked].source = source;
    copies[copies_asked++].bytes = bytes;
  }
  pthread_mutex_unlock(&stream_mutex);
  return fails ? 719 : 0;
}
int cuEventCreate(void** event, unsigned flags) {
  pthread_mutex_lock(&stream_mutex);
  const int fails = events == kEvents || flags != 2;
  if (!fails) *event = &recorded[events++];
  pthread_mutex_unlock(&stream_mutex);
  return fails ? 2 : 0;
}
int cuEventRecord(void* event, void* stream) {
  pthread_mutex_lock(&stream_mutex);
  *(int*)event = copies_asked;
  pthread_mutex_unlock(&stream_mutex);
  return stream == (void*)7 ? 0 : 400;
}
int cuEventSynchronize(void* event) {
  pthread_mutex_lock(&stream_mutex);
  for (; copies_made < *(int*)event; ++copies_made)
    memcpy((void*)copies[copies_made].target, (void*)copies[copies_made].source, copies[copies_made].bytes);
  pthread_mutex_unlock(&stream_mutex);
  return 0;
}
int cuEventDestroy_v2(void* event) {
  pthread_mutex_lock(&stream_mutex);
  ++events_destroyed;
  pthread_mutex_unlock(&stream_mutex);
  return 0;
}

int cuMemAllocHost_v2(void** memory, size_t bytes) {
  if (capture_mode != 2) return 900;
  *memory = malloc(bytes);
  return *memory ? 0 : 2;
}
int pinned_freed = 0;
int cuMemFreeHost(void* memory) {
  if (capture_mode != 2) return 900;
  if (!current) return 201;
  free(memory);
  ++pinned_freed;
  return 0;
}

// Forgets all copies; one of the next may fail.
void begin_copies(int failing) {
  copies_asked = copies_made = events = events_destroyed = 0;
  copy_that_fails = failing;
  memset(recorded, 0, sizeof recorded);
}
int number_of_copies(void) { return copies_asked; }
int copies_under_way(void) { return copies_asked - copies_made; }
int events_alive(void) { return events - events_destroyed; }
size_t bytes_of_copy(int number) { return copies[number].bytes; }
