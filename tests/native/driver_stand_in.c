// A stand-in for CUDA's driver: it writes down the launches that it is asked for, and copies as late as it may,
// for the tests of `native.Launches` and `native.Transfers`.
#include <pthread.h>
#include <stdint.h>
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

// The kernels of the test take an address, a structure of 24 bytes, and a number of 4 bytes.
int cuLaunchKernelEx(const Config* config, void* function, void** arguments, void** extra) {
  const unsigned *grid = config->grid, *block = config->block;
  if (!current) return 201;
  if (grid[1] != 1 || grid[2] != 1 || block[1] != 1 || block[2] != 1 || extra || launches == failing)
    return 719;
  uint64_t* row = kept[launches++];
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
