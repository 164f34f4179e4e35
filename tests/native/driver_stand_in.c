// A stand-in for CUDA's driver: it writes down what it is asked for, for the test of `native.Launches`.
#include <stdint.h>
#include <string.h>

static void* current = 0;
static int launches = 0, failing = -1;
static uint64_t kept[64][8];

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
// The kernels of the test take an address, a structure of 24 bytes, and a number of 4 bytes.
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void* stream, void** arguments, void** extra) {
  if (!current) return 201;
  if (gy != 1 || gz != 1 || by != 1 || bz != 1 || extra || launches == failing) return 719;
  uint64_t* row = kept[launches++];
  row[0] = (uintptr_t)function;
  row[1] = gx;
  row[2] = bx;
  row[3] = shared;
  row[4] = (uintptr_t)stream;
  row[5] = *(uint64_t*)arguments[0];
  row[6] = ((uint64_t*)arguments[1])[2];
  row[7] = *(uint32_t*)arguments[2];
  return 0;
}

int number_of_launches(void) { return launches; }
void copy_launch(int number, uint64_t* row) { memcpy(row, kept[number], sizeof kept[number]); }
void begin(void* context, int launch_that_fails) {
  current = context;
  launches = contexts_set = 0;
  failing = launch_that_fails;
}
