// Memory whose pages the system has yet to give.
//
// The system clears a page when it is first written to, and a page has up to 2 MB, which takes up to some
// milliseconds. Where writes go here and there, hundreds of pages may come first in one stretch between
// polls. So whoever writes like that takes the pages before: in order, by all threads, with polls.
#pragma once

#include <cstdint>

#include "cpu/core/interrupt.h"
#include "cpu/core/parallel.h"

namespace conncomp {

// Takes the pages of `count` entries, all of which are to be written later.
template <class T>
void take_pages(T* data, int64_t count) {
  constexpr int64_t kPage = 1 << 12, kPagesWorthAThread = 1 << 9;
  auto* const bytes = reinterpret_cast<volatile char*>(data);
  const int64_t pages = count * int64_t(sizeof(T)) / kPage;
  const Parts parts(pages, kPagesWorthAThread);
  parallel_for(parts.parts, [&](int64_t part) {
    for (int64_t page = parts.begin(part); page < parts.end(part); ++page) {
      poll(kPage);
      bytes[page * kPage] = 0;
    }
  });
}

}  // namespace conncomp
