// The threads that help with parallel loops. Why not OpenMP: its loops spin for every thread, on a busy
// machine for one that does not run. (1024 x 1024 elements with two threads, beside two busy processes on two
// cores, took GNU OpenMP 40 ms and this pool 2.1 ms.) Its threads die in a fork, and a child that uses them
// hangs. Here the caller works too, and waits only for helpers that have begun; if the pool is busy or the
// HelperAccount overdrawn, it works alone.
#pragma once

#include <cxxabi.h>
#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "cpu/core/helper_account.h"
#include "cpu/core/parallel.h"

#ifdef _LIBCPP_VERSION
// libc++ has this, and does not declare it.
namespace __cxxabiv1 {
struct __cxa_eh_globals;
extern "C" __cxa_eh_globals* __cxa_get_globals() noexcept;
}
#endif

namespace conncomp {

class ThreadPool {
 public:
  // The one pool, new in a forked child; never destroyed, as its threads wait.
  static ThreadPool& get() {
    ThreadPool* pool = process().pool.load(std::memory_order_acquire);
    return pool ? *pool : first();
  }

  HelperAccount account;

  // Runs work(0), which throws nothing, here and work(k) on others, calling idle(). Whether it asked any.
  bool run(int helpers, FunctionRef<void(int)> work, FunctionRef<void()> idle) {
    if (busy_.test_and_set()) return work(0), false;
    int others;  // for whom there is no work
    {
      const std::lock_guard lock(mutex_);
      try {
        for (; size_ < helpers; ++size_) std::thread([this, number = size_ + 1] { serve(number); }).detach();
      } catch (const std::exception&) {  // no more threads, or no memory for them: fewer will do
      }
      work_ = &work;
      places_ = helpers;
      ++generation_;
      others = size_ - helpers;
    }
    // Threads that are awake may take the places of those woken here, which then find none.
    if (others <= 0) wake_.notify_all();
    for (int k = 0; others > 0 && k < helpers; ++k) wake_.notify_one();
    work(0);
    std::unique_lock lock(mutex_);
    places_ = 0;
    const auto over = [this] { return working_ == 0; };
    look_out(lock, over);
    while (!done_.wait_for(lock, kPatience, over)) {
      lock.unlock();
      idle();
      lock.lock();
    }
    lock.unlock();
    busy_.clear();
    return true;
  }

 private:
  static ThreadPool& first() {
    static std::mutex making;
    const std::lock_guard lock(making);
    std::atomic<ThreadPool*>& pool = process().pool;
    if (!pool) {
      pthread_atfork(nullptr, nullptr, [] { process().pool = new ThreadPool; });
      pool = new ThreadPool;
    }
    return *pool;
  }

  // A helper gets memory for exceptions now: without, its first throw would end the process.
  static bool ready_to_throw() {
    constexpr size_t kPlenty = 1 << 16;
    void* volatile probe = std::malloc(kPlenty);  // volatile: else compilers take it for granted
    const bool enough = probe != nullptr;
    std::free(probe);
    return enough && abi::__cxa_get_globals() != nullptr;
  }

  void serve(int number) {
    const bool ready = ready_to_throw();
    std::unique_lock lock(mutex_);
    if (!ready) {
      --size_;
      return;
    }
    for (;;) {
      if (places_ > 0) {
        --places_;
        ++working_;
        lock.unlock();
        (*work_)(number);
        lock.lock();
        if (--working_ == 0) done_.notify_one();
      }
      const auto wanted = [this, seen = generation_.load()] { return generation_ != seen; };
      look_out(lock, wanted);
      wake_.wait(lock, wanted);
    }
  }

  // One loop often follows the other at once: spins a little before going to sleep.
  static void look_out(std::unique_lock<std::mutex>& lock, auto&& condition) {
    constexpr int kTimes = 1000;  // some ten microseconds
    lock.unlock();
    for (int i = 0; i < kTimes && !condition(); ++i) {
#ifdef __x86_64__
      __builtin_ia32_pause();
#endif
    }
    lock.lock();
  }

  static constexpr std::chrono::milliseconds kPatience{20};

  std::atomic_flag busy_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::atomic<uint64_t> generation_{0};
  std::atomic<int> working_{0};  // helpers at work
  int size_ = 0, places_ = 0;    // helpers there are, and still wanted
  const FunctionRef<void(int)>* work_ = nullptr;
};

}
