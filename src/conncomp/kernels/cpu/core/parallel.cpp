#include "cpu/core/parallel.h"

#include "cpu/core/thread_pool.h"

namespace conncomp {

namespace {

// OMP_NUM_THREADS, or else the processors there are.
int default_threads() {
  const char* wanted = std::getenv("OMP_NUM_THREADS");
  const int threads = wanted ? std::atoi(wanted) : 0;
  return threads > 0 ? threads : std::max(1, int(std::thread::hardware_concurrency()));
}

Process process_of_module{default_threads()};
Process* joined = &process_of_module;

}

Process& process() { return *joined; }

void join_process(Process& other) { joined = &other; }

namespace {

int64_t work_alone(int64_t count, FunctionRef<void(int64_t)> body) {
  int64_t i = 0;
  if (count > 1 && num_threads() > 1) {
    const HelperAccount& account = ThreadPool::get().account;
    const int64_t begin = time_now();
    while (count - i > 1 && account.overdrawn(begin)) body(i++);
    if (count - i > 1) return i;
  }
  for (; i < count; ++i) body(i);
  return count;
}

// Pieces of a loop, in shares: a thread takes those of its share, then those left of others. Up to 32
// counters have a cache line each, as finished threads look at all.
class Shares {
 public:
  Shares(int64_t begin, int64_t end, int shares)
      : begin_(begin), end_(end), count_(std::min(shares, kMost)), apart_(std::min(kMost / count_, kLine)) {
    for (int share = 0; share < count_; ++share) next(share).store(first(share), std::memory_order_relaxed);
  }

  int64_t take(int thread) {
    for (int k = 0; k < count_; ++k) {
      const int share = (thread + k) % count_;
      const int64_t behind = first(share + 1);
      if (next(share).load(std::memory_order_relaxed) >= behind) continue;
      if (const int64_t piece = next(share).fetch_add(1, std::memory_order_relaxed); piece < behind)
        return piece;
    }
    return end_;
  }

  void drop() {
    for (int share = 0; share < count_; ++share) next(share).store(end_, std::memory_order_relaxed);
  }

  int64_t taken() const {
    int64_t sum = 0;
    for (int share = 0; share < count_; ++share)
      sum += std::min(next(share).load(std::memory_order_relaxed), first(share + 1)) - first(share);
    return sum;
  }

 private:
  static constexpr int kMost = 256, kLine = 64 / sizeof(int64_t);

  std::atomic<int64_t>& next(int share) { return next_[share * apart_]; }
  const std::atomic<int64_t>& next(int share) const { return next_[share * apart_]; }
  int64_t first(int share) const { return begin_ + (end_ - begin_) * share / count_; }

  const int64_t begin_, end_;
  const int count_, apart_;
  alignas(64) std::array<std::atomic<int64_t>, kMost> next_;  // the next piece of each share
};

void await_pieces(const Shares& shares, int64_t wanted) {
  constexpr int64_t kPatience = 5'000'000;
  const int64_t begin = time_now();
  while (shares.taken() < wanted && time_now() < begin + kPatience)
    std::this_thread::sleep_for(std::chrono::microseconds(10));
}

}

bool helpers_wanted(int64_t elements) {
  if (elements <= kGrain || num_threads() <= 1) return false;
  return elements >= kLongLoop || !ThreadPool::get().account.overdrawn(time_now());
}

// Tapered, part k of the P of a share is 2 (P - k) - 1 of P² pieces of it, and a unit so that none is empty.
int64_t Parts::begin(int64_t part) const {
  const auto split = [units = count / unit](
                         int64_t into, int64_t k) { return units / into * k + std::min(k, units % into); };
  if (!tapered) return split(parts, part) * unit;
  const int64_t of_share = parts / shares, share = part / of_share, k = part % of_share;
  const int64_t first = split(shares, share), others = split(shares, share + 1) - first - of_share;
  const int64_t left = of_share - k, pieces = of_share * of_share, pieces_left = left * left;
  return (first + others - others / pieces * pieces_left - others % pieces * pieces_left / pieces + k) * unit;
}

void parallel_for(int64_t count, FunctionRef<void(int64_t)> body, Dealing dealing) {
  const int64_t alone = work_alone(count, body);
  if (alone == count) return;
  const int threads = int(std::min<int64_t>(num_threads(), count - alone));
  Shares shares(alone, count, dealing == Dealing::kQueue ? 1 : threads);
  std::atomic<bool> failed{false};
  std::exception_ptr failure;
  WatchedCall* const call = watch.call;
  CallerWork own{0, 0};
  const auto work = [&](int thread) {
    const Assistance assistance(call);
    const bool is_caller = thread == 0;
    try {
      for (int64_t i; (i = shares.take(thread)) < count;) {
        // Nobody works before each thread has a piece.
        if constexpr (kAlwaysHelped) await_pieces(shares, threads);
        body(i);
        if (is_caller) ++own.pieces;
      }
    } catch (...) {
      shares.drop();
      if (!failed.exchange(true)) failure = std::current_exception();
    }
    if (is_caller) own.time += processor_time();
  };
  ThreadPool& pool = ThreadPool::get();
  const int64_t asked = time_now();
  own.time = -processor_time();
  const bool helped = pool.run(threads - 1, work, [call] {
    if (call && watch.caller) call->ask();
  });
  if (helped) pool.account.enter(count - alone, time_now() - asked, own);
  if (failure) std::rethrow_exception(failure);
}

WatchedCall::WatchedCall(FunctionRef<bool()> question) : question_(question), outer_(watch) {
  watch = {this, true, kBudget};
}

void WatchedCall::ask() {
  if (given_up()) return;
  if (next_question_ && time_now() < next_question_) return;
  if (next_question_ && question_()) given_up_.store(true, std::memory_order_relaxed);
  next_question_ = time_now() + kPause;
}

void look_up_from_work() {
  watch.budget = kBudget;
  if (!watch.call) return;
  if (watch.caller) watch.call->ask();
  if (watch.call->given_up()) throw Interrupted();
}

}
