// The threads that help with parallel loops.
//
// Why not OpenMP: its loops end when every thread has come, so on a machine that is busy with something else
// each of them waits, spinning, for a thread that is not running. (Labelling 1024 x 1024 elements with two
// threads, beside two busy processes on two cores, takes GNU OpenMP 40 ms, this pool 2.1 ms; with the cores
// free 1.2 and 1.3 ms.) Its threads do not survive a fork, and a child that uses them hangs. And not every
// compiler has it. Here the caller works too, and waits only for helpers that have begun. One that comes late
// finds nothing left. If the pool is busy with another caller, the caller works alone. And it does so for a
// while when helpers have cost more than they gained (HelperAccount).
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
}  // namespace __cxxabiv1
#endif

namespace conncomp {

class ThreadPool {
 public:
  // The one pool of this process; a forked child, which has lost its threads, gets a new one. Its threads
  // wait until the process ends, so it is never destroyed.
  static ThreadPool& get() {
    ThreadPool* pool = process().pool.load(std::memory_order_acquire);
    return pool ? *pool : first();
  }

  HelperAccount account;

  // Runs work(0), which throws nothing, on this thread, and work(k) on up to `helpers` others at once, each
  // of which has a number of its own; all have returned at the end. While this one waits for them it calls
  // idle() now and then. Returns whether it has asked any: there are none for it while another caller has
  // them.
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
    // Those that are awake may take the places of those that are woken here, which then find none.
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

  // What a helper may throw and catch is kept in memory that each thread gets when it first does so. If there
  // is none left, the C library ends the process; so a helper gets it now, or does not begin.
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

  // One loop often follows the other at once: looks out for what is awaited before going to sleep.
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

}  // namespace conncomp
