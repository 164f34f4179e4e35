// Runs CUDA kernels on the CPU, for tests: the part that is not compiled together with the kernels.
//
// The threads of a block are fibers of one thread of the operating system, a worker; several workers run
// blocks at the same time. At every barrier, collective and atomic access a block may go on with another of
// its threads, drawn at random.
//
// This file is compiled without sanitizers: they watch what kernels do, and are told here what they need to
// know about fibers and about the order that CUDA promises.
#include <link.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdarg>
#include <cstdlib>
#include <latch>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "host_cuda.h"

#ifdef HOST_CUDA_ADDRESS
#include <sanitizer/asan_interface.h>
#endif
#ifdef HOST_CUDA_THREAD
#include <sanitizer/tsan_interface.h>
#endif
#ifndef __x86_64__
#include <ucontext.h>
#endif

__thread uint3 threadIdx, blockIdx;
__thread dim3 blockDim, gridDim;

// -------------------------------------------------------------------------- stacks, and switching them

#ifdef __x86_64__
// Saves the registers that a call keeps, and the stack pointer at *from; goes on where `to` was saved. (The
// portable swapcontext makes a system call each time; a return to where no call was made is never foreseen.)
extern "C" void host_cuda_switch(void** from, void* to);
asm(R"(
.text
.hidden host_cuda_switch
.globl host_cuda_switch
.type host_cuda_switch, @function
host_cuda_switch:
  endbr64
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  popq %rcx
  jmp *%rcx
.size host_cuda_switch, .-host_cuda_switch
)");
#endif

namespace host_cuda {
namespace {

// Where a fiber, or the worker itself, will go on.
#ifdef __x86_64__
struct Context {
  void* stack_pointer = nullptr;

  void begin(char* stack, size_t size, void (*entry)()) {
    void** top = reinterpret_cast<void**>(stack + size);
    *--top = nullptr;  // where `entry` would return to, which it never does
    *--top = reinterpret_cast<void*>(entry);
    for (int i = 0; i < 6; ++i) *--top = nullptr;
    stack_pointer = top;
  }
  void go_to(Context& next) { host_cuda_switch(&stack_pointer, next.stack_pointer); }
};
#else
struct Context {
  ucontext_t context;

  void begin(char* stack, size_t size, void (*entry)()) {
    getcontext(&context);
    context.uc_stack.ss_sp = stack;
    context.uc_stack.ss_size = size;
    context.uc_link = nullptr;
    makecontext(&context, entry, 0);
  }
  void go_to(Context& next) { swapcontext(&context, &next.context); }
};
#endif

constexpr size_t kStack = 256 << 10, kGuard = 64 << 10;
// How far below the end of its memory a stack begins, for one thread after the other: at the same place of
// each page, the stacks would want the same few lines of a cache.
constexpr size_t kStep = 5 * 64, kSteps = 64;

struct Fiber {
  Context context;
  char* stack = nullptr;  // null: the worker's own
  const void* stack_bottom = nullptr;
  size_t stack_size = kStack;
  void* fake_stack = nullptr;  // AddressSanitizer's
  void* tsan = nullptr;        // ThreadSanitizer's
};

// What ThreadSanitizer is told: all that was done before release(at) comes before what follows acquire(at).
void release([[maybe_unused]] void* at) {
#ifdef HOST_CUDA_THREAD
  __tsan_release(at);
#endif
}
void acquire([[maybe_unused]] void* at) {
#ifdef HOST_CUDA_THREAD
  __tsan_acquire(at);
#endif
}

// To be called first thing on a fiber: `from` is the one that ran before.
void arrive([[maybe_unused]] Fiber& here, [[maybe_unused]] Fiber& from) {
#ifdef HOST_CUDA_ADDRESS
  __sanitizer_finish_switch_fiber(here.fake_stack, &from.stack_bottom, &from.stack_size);
#endif
}

// -------------------------------------------------------------------------------------------- launches

constexpr int kWarp = 32, kMaxThreads = 1024;
// How many fibers of a block ThreadSanitizer tells apart, if each is to have a clock of its own: a barrier
// copies as many clocks as there are, each with an entry for every other one.
constexpr int kOwnClocks = 64;
// How many lanes of a warp share a clock at most.
constexpr int kMostOfClock = 8;

struct Random {
  uint64_t state;
  uint64_t operator()() {  // splitmix64
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  unsigned int below(unsigned int high) { return unsigned((*this)() % high); }
};

struct Launch {
  const Shape& shape;
  void (*body)(const void*);
  const void* call;
  char* error;
  std::vector<unsigned int> order;  // of the blocks
  int workers;
  size_t tls_module = 0, tls_size = 0;  // of the kernel's library: its __shared__ variables
  std::chrono::steady_clock::time_point deadline =
      std::chrono::steady_clock::now() + std::chrono::seconds(shape.seconds);
  std::latch all_started{workers};
  std::atomic<bool> failed{false}, reported{false};
};

enum class State { kReady, kAtBarrier, kAtCollective, kExited };

// A thread of the block, and what it waits for, if it does.
struct Thread : Fiber {
  State state = State::kExited;
  int number = 0;
  uint3 index{};
  const char *name = "", *file = "";
  int line = 0;
  unsigned int mask = 0;
  uint64_t value = 0, result = 0;
  int parameter = 0;
};

struct Warp {
  // A group of lanes is known by its first one. One barrier's mark must not be that of the next, which some
  // lanes reach while others have yet to leave this one.
  char mark[kWarp][2];
  unsigned int round[kWarp];
};

[[noreturn]] void fiber_main();

struct Worker {
  Fiber main;
  std::vector<std::unique_ptr<Thread>> threads;
  std::vector<void*> clocks;  // ThreadSanitizer's fibers
  Warp warps[kMaxThreads / kWarp];

  Launch* launch = nullptr;
  Thread* current = nullptr;
  Fiber* previous = nullptr;  // who ran before the one that runs now
  int count = 0, alive = 0, waiting = 0;
  Thread* ready[kMaxThreads];  // in no order, and without the current one
  int ready_count = 0;
  Random random{0};
  int countdown = 0, gap = 1;  // atomic accesses until the next switch, on average
  unsigned int switches = 0;
  void* dynamic_shared = nullptr;
  int barrier_result = 0;
  unsigned int barrier_round = 0;
  char barrier_mark[2], begin_mark, end_mark;

  ~Worker() {
    for (auto& thread : threads) {
#ifdef HOST_CUDA_ADDRESS
      __asan_unpoison_memory_region(thread->stack, kStack);
#endif
      munmap(thread->stack - kGuard, kGuard + kStack);
    }
#ifdef HOST_CUDA_THREAD
    for (void* clock : clocks) __tsan_destroy_fiber(clock);
#endif
  }

  void need_threads(int wanted) {
    while (int(threads.size()) < wanted) {
      auto thread = std::make_unique<Thread>();
      void* memory = mmap(nullptr, kGuard + kStack, PROT_READ | PROT_WRITE,
          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory == MAP_FAILED || mprotect(memory, kGuard, PROT_NONE) != 0) {
        std::perror("host_cuda: no memory for stacks");
        std::abort();
      }
      thread->stack = static_cast<char*>(memory) + kGuard;
      thread->stack_bottom = thread->stack;
      thread->number = int(threads.size());
      thread->context.begin(thread->stack, kStack - thread->number % kSteps * kStep, fiber_main);
      threads.push_back(std::move(thread));
    }
  }

  // Goes on with another fiber; returns when somebody comes back to this one.
  void switch_to(Fiber& from, Fiber& to) {
    previous = &from;
#ifdef HOST_CUDA_ADDRESS
    __sanitizer_start_switch_fiber(&from.fake_stack, to.stack_bottom, to.stack_size);
#endif
#ifdef HOST_CUDA_THREAD
    if (from.tsan != to.tsan) __tsan_switch_to_fiber(to.tsan, __tsan_switch_to_fiber_no_sync);
#endif
    from.context.go_to(to.context);
    arrive(from, *previous);
  }

  void resume(Fiber& from, Thread& next) {
    current = &next;
    threadIdx = next.index;
    if (&from != &next) switch_to(from, next);
  }

  void make_ready(Thread& thread) {
    thread.state = State::kReady;
    ready[ready_count++] = &thread;
  }

  Thread& draw() {
    std::swap(ready[random.below(ready_count)], ready[ready_count - 1]);
    return *ready[--ready_count];
  }

  // Lets any thread go on, be it this one.
  void yield() {
    Thread& here = *current;
    make_ready(here);
    resume(here, draw());
  }

  // Lets others go on until somebody makes this thread ready.
  void wait(State state) {
    Thread& here = *current;
    here.state = state;
    if (ready_count == 0) deadlock();
    resume(here, draw());
  }

  // Leaves the block for good: its fibers are never resumed.
  [[noreturn]] void abandon() {
    release(&end_mark);
    switch_to(*current, main);
    std::abort();
  }

  [[noreturn]] void fail(const char* format, ...) __attribute__((format(printf, 2, 3))) {
    launch->failed = true;
    if (!launch->reported.exchange(true)) {
      const int used =
          std::snprintf(launch->error, kErrorSize, "block (%u, %u, %u), thread (%u, %u, %u): ", blockIdx.x,
              blockIdx.y, blockIdx.z, current->index.x, current->index.y, current->index.z);
      va_list arguments;
      va_start(arguments, format);
      std::vsnprintf(launch->error + used, kErrorSize - used, format, arguments);
      va_end(arguments);
    }
    abandon();
  }

  static std::string where(const Thread& thread) {
    std::string text = "thread (" + std::to_string(thread.index.x) + ", " + std::to_string(thread.index.y) +
                       ", " + std::to_string(thread.index.z) + ")";
    if (thread.state == State::kExited) return text + ", which has exited";
    if (thread.state == State::kReady) return text;
    text += std::string(", which is at ") + thread.name + " in " + thread.file + ":" +
            std::to_string(thread.line);
    char mask[32];
    std::snprintf(mask, sizeof(mask), " with mask 0x%08x", thread.mask);
    return thread.state == State::kAtCollective ? text + mask : text;
  }

  static bool same_place(const Thread& a, const Thread& b) {
    const auto same = [](const char* x, const char* y) { return x == y || std::strcmp(x, y) == 0; };
    return a.line == b.line && same(a.name, b.name) && same(a.file, b.file);
  }

  int first_of_warp(const Thread& thread) const { return thread.number / kWarp * kWarp; }

  // Nobody can go on: reports a thread that waits, and one that it waits for in vain.
  [[noreturn]] void deadlock() {
    Thread* waiting_thread = nullptr;
    for (int i = 0; i < count; ++i)
      if (threads[i]->state == State::kAtCollective ||
          (threads[i]->state == State::kAtBarrier && !waiting_thread))
        waiting_thread = threads[i].get();
    Thread& here = *waiting_thread;
    current = &here;
    if (here.state == State::kAtBarrier) {
      for (int i = 0; i < count; ++i)
        if (threads[i]->state != State::kAtBarrier)
          fail("%s in %s:%d waits for %s", here.name, here.file, here.line, where(*threads[i]).c_str());
    }
    for (int lane = 0, first = first_of_warp(here); lane < kWarp; ++lane) {
      if (!(here.mask >> lane & 1)) continue;
      if (first + lane >= count)
        fail("%s in %s:%d with mask 0x%08x waits for lane %d, which does not exist", here.name, here.file,
            here.line, here.mask, lane);
      const Thread& other = *threads[first + lane];
      if (other.state != State::kAtCollective || other.mask != here.mask)
        fail("%s in %s:%d with mask 0x%08x waits for %s", here.name, here.file, here.line, here.mask,
            where(other).c_str());
    }
    fail("deadlock");
  }

  void come_to(const char* name, const char* file, int line) {
    current->name = name;
    current->file = file;
    current->line = line;
  }

  void mismatch(const Thread& other) {
    fail("%s in %s:%d meets %s", current->name, current->file, current->line, where(other).c_str());
  }

  void begin_block(unsigned int block) {
    const dim3 grid = launch->shape.grid;
    random = {launch->shape.seed * 0xd1342543de82ef95u + block};
    gridDim = grid;
    blockDim = launch->shape.block;
    blockIdx = {block % grid.x, block / grid.x % grid.y, block / grid.x / grid.y};
    count = int(blockDim.x * blockDim.y * blockDim.z);
    // Some errors need many switches, others need threads that run for long.
    gap = 1 << 2 * random.below(5);
    countdown = 0;
    waiting = 0;
    alive = count;
    ready_count = 0;
    unsigned int i = 0;
    for (unsigned int z = 0; z < blockDim.z; ++z)
      for (unsigned int y = 0; y < blockDim.y; ++y)
        for (unsigned int x = 0; x < blockDim.x; ++x) {
          threads[i]->index = {x, y, z};
          make_ready(*threads[i++]);
        }
    deal_clocks();
    if (launch->tls_size > 0) {
      ElfW(Addr) index[2] = {launch->tls_module, 0};
      fill(tls_address(index), launch->tls_size);
    }
    fill(dynamic_shared, launch->shape.shared);
  }

  // Lets lanes of a warp share a clock where a block has many threads: ThreadSanitizer then takes them for
  // one thread, and does not see that they race with each other. Which ones do is drawn for each block, so
  // that others do in another one; between warps and between blocks it sees all races.
  void deal_clocks() {
#ifdef HOST_CUDA_THREAD
    const int sharing = std::clamp(count / kOwnClocks, 1, kMostOfClock);
    int used = 0;
    for (int first = 0; first < count; first += kWarp) {
      int lanes[kWarp];
      const int width = std::min(kWarp, count - first);
      std::iota(lanes, lanes + width, 0);
      for (int i = 0; i < width; ++i) {
        std::swap(lanes[i], lanes[i + random.below(width - i)]);
        if (i % sharing == 0 && used++ == int(clocks.size())) clocks.push_back(__tsan_create_fiber(0));
        threads[first + lanes[i]]->tsan = clocks[used - 1];
      }
    }
#endif
  }

  static void* tls_address(void* index);

  // Shared memory begins with anything.
  void fill(void* at, size_t size) {
    volatile char* bytes = static_cast<char*>(at);
    size_t i = 0;
    for (; i + 8 <= size; i += 8) {
      const uint64_t bits = random();
      __builtin_memcpy(static_cast<char*>(at) + i, &bits, 8);
    }
    for (; i < size; ++i) bytes[i] = char(random());
  }

  // Runs every workers-th block of the launch. That they run here one after the other is an order that
  // ThreadSanitizer sees; it sees none between blocks of different workers.
  void run(Launch& of, int number) {
    launch = &of;
#ifdef HOST_CUDA_THREAD
    main.tsan = __tsan_get_current_fiber();
#endif
    need_threads(int(of.shape.block.x * of.shape.block.y * of.shape.block.z));
    dynamic_shared = std::malloc(of.shape.shared);
    // Blocks are often over before the next worker has even started.
    of.all_started.arrive_and_wait();
    for (size_t i = number; i < of.order.size() && !of.failed; i += of.workers) {
      begin_block(of.order[i]);
      release(&begin_mark);
      Thread& first = draw();
      resume(main, first);
      acquire(&end_mark);
    }
    std::free(dynamic_shared);
    launch = nullptr;
  }
};

__thread Worker* worker HOST_CUDA_NEAR = nullptr;

// The life of a fiber: thread `number` of one block after the other.
[[noreturn]] void fiber_main() {
  Worker& w = *worker;  // for good, while the thread of the operating system changes between launches
  Thread& here = *w.current;
  arrive(here, *w.previous);
  for (;;) {
    acquire(&w.begin_mark);
    w.launch->body(w.launch->call);
    release(&w.end_mark);
    here.state = State::kExited;
    if (--w.alive == 0)
      w.switch_to(here, w.main);
    else
      w.wait(State::kExited);
  }
}

// Workers that are not at work, with their fibers, for the next launch.
std::mutex idle_mutex;
std::vector<std::unique_ptr<Worker>>& idle() {
  static auto* workers = new std::vector<std::unique_ptr<Worker>>;
  return *workers;
}

void work(Launch& launch, int number) {
  std::unique_ptr<Worker> mine;
  {
    const std::lock_guard lock(idle_mutex);
    if (!idle().empty()) {
      mine = std::move(idle().back());
      idle().pop_back();
    }
  }
  if (!mine) mine = std::make_unique<Worker>();
  worker = mine.get();
  mine->run(launch, number);
  worker = nullptr;
  if (launch.failed) return;  // some fibers have not come to an end, and go with their worker
  const std::lock_guard lock(idle_mutex);
  idle().push_back(std::move(mine));
}

// A thread of the operating system that plays a worker in one launch after the other: to begin a thread, and
// its __shared__ variables, takes longer than most blocks do.
class Helper {
 public:
  Helper() {
    std::thread([this] {
      for (;;) help();
    }).detach();
  }

  void begin(Launch& launch, int number) {
    const std::lock_guard lock(mutex_);
    launch_ = &launch;
    number_ = number;
    changed_.notify_all();
  }

  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !launch_; });
  }

 private:
  void help() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return launch_ != nullptr; });
    lock.unlock();
    work(*launch_, number_);
    lock.lock();
    launch_ = nullptr;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Launch* launch_ = nullptr;
  int number_ = 0;
};

// Helpers without work. A process that was forked has none of the threads, and begins its own.
std::vector<Helper*>& idle_helpers() {
  static auto* helpers = new std::vector<Helper*>;
  static const int once = pthread_atfork(nullptr, nullptr, [] { idle_helpers().clear(); });
  (void)once;
  return *helpers;
}

std::vector<Helper*> take_helpers(size_t wanted) {
  const std::lock_guard lock(idle_mutex);
  std::vector<Helper*>& idle = idle_helpers();
  while (idle.size() < wanted) idle.push_back(new Helper);
  const std::vector<Helper*> taken(idle.end() - wanted, idle.end());
  idle.resize(idle.size() - wanted);
  return taken;
}

void give_back(const std::vector<Helper*>& helpers) {
  const std::lock_guard lock(idle_mutex);
  idle_helpers().insert(idle_helpers().end(), helpers.begin(), helpers.end());
}

// Finds the thread-local variables of the library that has this address.
void search_shared_variables(Launch& launch, const void* address) {
  struct Search {
    ElfW(Addr) address;
    Launch& launch;
  } search{reinterpret_cast<ElfW(Addr)>(address), launch};
  const auto look = [](dl_phdr_info* library, size_t, void* at) {
    Search& search = *static_cast<Search*>(at);
    bool here = false;
    size_t size = 0;
    for (int i = 0; i < library->dlpi_phnum; ++i) {
      const auto& part = library->dlpi_phdr[i];
      const ElfW(Addr) begin = library->dlpi_addr + part.p_vaddr;
      if (part.p_type == PT_LOAD && search.address >= begin && search.address < begin + part.p_memsz)
        here = true;
      if (part.p_type == PT_TLS) size = part.p_memsz;
    }
    if (!here) return 0;
    search.launch.tls_module = library->dlpi_tls_modid;
    search.launch.tls_size = size;
    return 1;
  };
  dl_iterate_phdr(look, &search);
}

// The same, looked up where it is known: a search goes through all libraries, which are many, and none of
// them is ever unloaded.
void find_shared_variables(Launch& launch, const void* address) {
  static std::mutex mutex;
  static auto* known = new std::map<const void*, std::pair<size_t, size_t>>;
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = known->try_emplace(address);
  if (is_new) {
    search_shared_variables(launch, address);
    at->second = {launch.tls_module, launch.tls_size};
  }
  std::tie(launch.tls_module, launch.tls_size) = at->second;
}

}

extern "C" void* __tls_get_addr(void*);
void* Worker::tls_address(void* index) { return __tls_get_addr(index); }

// ----------------------------------------------------------------------------------- for the kernels

int lane() { return worker->current->number % kWarp; }

void* dynamic_shared() { return worker->dynamic_shared; }

void interleave() {
  Worker& w = *worker;
  if (--w.countdown >= 0) return;
  w.countdown = int(w.random.below(2 * w.gap));
  if (w.launch->failed) w.abandon();
  if (++w.switches % 32 == 0) sched_yield();  // lets other blocks go on where there are few processors
  if (w.switches % (1 << 12) == 0 && std::chrono::steady_clock::now() > w.launch->deadline)
    w.fail("is still running after %d seconds", w.launch->shape.seconds);
  w.yield();
}

// ThreadSanitizer knows no fences; it is told that each comes after all that have been before.
void fence() {
  static char mark;
  acquire(&mark);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  release(&mark);
}

void fail(const char* what, const char* file, int line) { worker->fail("%s in %s:%d", what, file, line); }

uint64_t warp_collective(const char* name, unsigned int mask, uint64_t value, int parameter, Result result,
    bool orders, const char* file, int line) {
  Worker& w = *worker;
  Thread& here = *w.current;
  w.come_to(name, file, line);
  here.mask = mask;
  here.value = value;
  here.parameter = parameter;
  if (!(mask >> here.number % kWarp & 1))
    w.fail("%s in %s:%d with mask 0x%08x, which leaves out the calling lane %d", name, file, line, mask,
        here.number % kWarp);

  const int first = w.first_of_warp(here), leader = std::countr_zero(mask);
  Warp& warp = w.warps[first / kWarp];
  char* mark = &warp.mark[leader][warp.round[leader] & 1];
  if (orders) release(mark);
  here.state = State::kAtCollective;
  bool complete = true;
  for (unsigned int rest = mask; rest && complete; rest &= rest - 1) {
    const int other = first + std::countr_zero(rest);
    complete =
        other < w.count && w.threads[other]->state == State::kAtCollective && w.threads[other]->mask == mask;
  }
  if (complete) {
    Lanes lanes{mask, 0, {}};
    for (unsigned int rest = mask; rest; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      const Thread& other = *w.threads[first + lane];
      if (!Worker::same_place(here, other)) w.mismatch(other);
      lanes.value[lane] = other.value;
      if (other.value) lanes.nonzero |= 1u << lane;
    }
    ++warp.round[leader];
    for (unsigned int rest = mask; rest; rest &= rest - 1) {
      Thread& other = *w.threads[first + std::countr_zero(rest)];
      other.result = result(lanes, other.parameter);
      w.make_ready(other);
    }
    w.resume(here, w.draw());
  } else {
    w.wait(State::kAtCollective);
  }
  if (orders) acquire(mark);
  return here.result;
}

int block_barrier(const char* name, Reduce reduce, int predicate, const char* file, int line) {
  Worker& w = *worker;
  Thread& here = *w.current;
  w.come_to(name, file, line);
  here.value = predicate != 0;
  char* mark = &w.barrier_mark[w.barrier_round & 1];
  release(mark);
  if (++w.waiting < w.count) {
    w.wait(State::kAtBarrier);
  } else {
    int sum = 0;
    here.state = State::kAtBarrier;
    for (int i = 0; i < w.count; ++i) {
      if (!Worker::same_place(here, *w.threads[i])) w.mismatch(*w.threads[i]);
      sum += int(w.threads[i]->value);
    }
    const int result = reduce == Reduce::kOr ? sum > 0 : reduce == Reduce::kAnd ? sum == w.count : sum;
    w.waiting = 0;
    ++w.barrier_round;
    for (int i = 0; i < w.count; ++i) {
      w.threads[i]->result = result;
      w.make_ready(*w.threads[i]);
    }
    w.resume(here, w.draw());
  }
  acquire(mark);
  return int(here.result);
}

Outcome run(
    const Shape& shape, void (*body)(const void*), const void* call, const void* address, char* error) {
  const uint64_t threads = uint64_t(shape.block.x) * shape.block.y * shape.block.z;
  const uint64_t blocks = uint64_t(shape.grid.x) * shape.grid.y * shape.grid.z;
  if (threads < 1 || threads > kMaxThreads || shape.block.z > 64 || blocks < 1 || shape.grid.x > INT32_MAX ||
      shape.grid.y > 65535 || shape.grid.z > 65535) {
    std::snprintf(error, kErrorSize, "invalid configuration: grid (%u, %u, %u), block (%u, %u, %u)",
        shape.grid.x, shape.grid.y, shape.grid.z, shape.block.x, shape.block.y, shape.block.z);
    return kFailed;
  }
  Launch launch{shape, body, call, error, std::vector<unsigned int>(blocks),
      int(std::min<uint64_t>(blocks, std::max(1, shape.workers)))};
  std::iota(launch.order.begin(), launch.order.end(), 0u);
  Random random{shape.seed};
  for (unsigned int i = unsigned(blocks); i > 1; --i)
    std::swap(launch.order[i - 1], launch.order[random.below(i)]);
  find_shared_variables(launch, address);

  const std::vector<Helper*> helpers = take_helpers(launch.workers - 1);
  for (int i = 1; i < launch.workers; ++i) helpers[i - 1]->begin(launch, i);
  work(launch, 0);
  for (Helper* helper : helpers) helper->wait();
  give_back(helpers);
  return launch.failed ? kFailed : kDone;
}

}
