// Loops after others in which helpers cost more than they gained: short ones leave helpers alone, long ones
// ask them again on their way. Each thread has a share of a loop, whose parts taper. Built, with loops as
// users have them, and run by test_sanitizers.py.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "cpu/core/parallel.h"
#include "cpu/core/thread_pool.h"
#include "random_cases.h"

using namespace conncomp;

namespace {

using std::chrono::milliseconds;

// As if a caller had waited for a helper for so long, in a loop of two pieces that take no time.
void enter_loss(milliseconds lost) {
  ThreadPool::get().account.enter(2, std::chrono::nanoseconds(lost).count(), {1, 0});
}

// How many pieces of a loop the caller works on before another thread has one.
int64_t pieces_alone(int64_t pieces, milliseconds piece) {
  std::vector<std::thread::id> worker(pieces);  // in the order in which pieces are begun
  std::atomic<int64_t> begun{0};
  parallel_for(pieces, [&](int64_t) {
    worker[begun++] = std::this_thread::get_id();
    std::this_thread::sleep_for(piece);
  });
  const auto other = [](std::thread::id id) { return id != std::this_thread::get_id(); };
  return std::find_if(worker.begin(), worker.end(), other) - worker.begin();
}

void test_rests() {
  constexpr milliseconds kPiece{20};
  check(pieces_alone(8, kPiece) < 8, "a helper comes");
  for (int k = 0; k < 16; ++k) enter_loss(milliseconds(20));  // more than any balance there was
  check(pieces_alone(8, milliseconds(0)) == 8, "a short loop leaves helpers alone");
  check(pieces_alone(1, kPiece) == 1, "a piece is the caller's");
  const int64_t alone = pieces_alone(40, kPiece);
  check(alone > 0, "a long loop leaves helpers alone at first");
  check(alone < 20, "a long loop asks them again");
  check(helpers_wanted(kLongLoop), "a long loop has parts for several threads");
}

// Two threads have halves of a loop, and who has finished its own helps with the other: the caller, as a
// helper here waits for that, and it for a helper.
void test_shares() {
  constexpr int64_t kPieces = 16, kHalf = kPieces / 2;
  std::vector<std::thread::id> worker(kPieces);
  std::atomic<bool> has_helper{false}, has_taken_over{false};
  const auto caller = std::this_thread::get_id();
  parallel_for(kPieces, [&](int64_t i) {
    worker[i] = std::this_thread::get_id();
    const bool is_caller = worker[i] == caller;
    if (!is_caller) has_helper = true;
    if (is_caller && i >= kHalf) has_taken_over = true;
    const std::atomic<bool>& awaited = is_caller ? has_helper : has_taken_over;
    for (int k = 0; k < 2000 && !awaited; ++k) std::this_thread::sleep_for(milliseconds(5));
  });
  check(
      std::count(worker.begin(), worker.begin() + kHalf, caller) == kHalf, "the first half is the caller's");
  check(worker[kHalf] != caller, "its helper begins with the second");
  check(has_taken_over, "the caller helps with that");
}

void test_parts() {
  const Parts many(64000, 1000), few(4000, 1000), odd(15500, 1000);
  for (int64_t k : {0, 8}) {
    check(many.parts == 16 && many.begin(k) == k * 4000, "each thread has half of many parts");
    check(many.end(k) > k * 4000 + 7000 && many.begin(k + 7) > k * 4000 + 31000, "they taper");
  }
  check(odd.parts == 14 && odd.begin(7) == 7750, "threads have as many parts each");
  for (int64_t k = 0; k < 4; ++k) check(few.begin(k) == 1000 * k, "few parts are of one size");
  Parts two = many;
  two.at_most(2);
  check(two.parts == 2 && two.begin(1) == 32000, "two of many parts are halves");
  for (int round = 0; round < 200; ++round) {
    const int64_t unit = draw(1, 4), count = unit * draw(1, 5000);
    Parts parts(count, draw(1, 100));
    if (!parts.align(unit)) continue;
    check(parts.begin(0) == 0 && parts.end(parts.parts - 1) == count, "parts are all");
    for (int64_t k = 0; k < parts.parts; ++k) {
      const int64_t length = parts.end(k) - parts.begin(k);
      check(length > 0 && length % unit == 0, "a part has units");
      const bool begins_share = parts.tapered && 2 * k == parts.parts;
      if (k > 0 && !begins_share)
        check(length <= parts.end(k - 1) - parts.begin(k - 1) + unit, "parts become no larger");
    }
  }
}

}

int main(int count, char** arguments) {
  const int rounds = rounds_of(count, arguments);
  process().wanted_threads = 2;
  test_shares();
  for (int round = 0; round < rounds; ++round) test_rests();
  test_parts();
  process().wanted_threads = 1;
  check(!helpers_wanted(kLongLoop), "one thread has one part");
  std::printf("%d rounds\n", rounds);
}
