// A stand-in for CUDA's driver: it writes down what it is asked for, for the test of `native.Launches`.
#include <stdint.h>
#include <string.h>

static void* current = 0;
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
