// Copies between pageable memory and a GPU, in strips through pinned buffers, by all threads.
//
//   upload    array -- a thread copies --> buffer -- the GPU copies --> its memory
//   download  the same from right to left
//
// Every thread takes the next strip for one of its two buffers while the GPU works on the other; an event of
// each says when it is done. Cost: the bytes are copied twice, at once. Source: Maddix 2014, "Streams".

#include "bindings/bindings.h"
#include "bindings/cuda/driver.h"
#include "cpu/core/parallel.h"

namespace conncomp {

namespace {

// An array of main memory, `host`, and bytes of a GPU.
struct Transfer {
  static constexpr int kBuffers = 2;

  const Driver& driver;
  Handle context, stream;
  char* host;
  uint64_t device;
  char* buffers;
  int64_t bytes, strip;
  std::atomic<int64_t> next{0};

  int64_t size(int64_t begin) const { return std::min(strip, bytes - begin); }

  // The beginning of a strip that no thread has taken yet, or of none: `bytes` or more.
  int64_t take() {
    const int64_t begin = next.fetch_add(strip, std::memory_order_relaxed);
    if (begin < bytes) poll(size(begin));
    return begin;
  }
  char* buffer(int64_t thread, int turn) const { return buffers + (thread * kBuffers + turn) * strip; }
  void launch(uint64_t target, uint64_t source, int64_t count, Event& done) const {
    driver.check(driver.copy(target, source, size_t(count), stream));
    done.record(stream);
  }

  void upload(int64_t thread) {
    const CurrentContext current(driver, context);
    std::array<Event, kBuffers> done{Event(driver), Event(driver)};
    int turn = 0;
    for (int64_t begin; (begin = take()) < bytes; turn = 1 - turn) {
      char* const at = buffer(thread, turn);
      done[turn].wait();
      std::memcpy(at, host + begin, size_t(size(begin)));
      launch(device + begin, address(at), size(begin), done[turn]);
    }
  }

  void download(int64_t thread) {
    const CurrentContext current(driver, context);
    std::array<Event, kBuffers> done{Event(driver), Event(driver)};
    std::array<int64_t, kBuffers> begins;
    const auto fetch = [&](int turn) {
      const int64_t begin = begins[turn] = take();
      if (begin < bytes) launch(address(buffer(thread, turn)), device + begin, size(begin), done[turn]);
    };
    for (int turn = 0; turn < kBuffers; ++turn) fetch(turn);
    for (int turn = 0; begins[turn] < bytes; turn = 1 - turn) {
      done[turn].wait();
      std::memcpy(host + begins[turn], buffer(thread, turn), size_t(size(begins[turn])));
      fetch(turn);
    }
  }

 private:
  static uint64_t address(const void* memory) { return reinterpret_cast<uint64_t>(memory); }
};

// Arrays to and from one GPU. Addresses and sizes are checked by Python.
class Transfers {
 public:
  Transfers(int device, const std::string& library) : driver_(library) {
    driver_.check(driver_.retain_context(&context_, device));
  }

  // `buffers` has two strips a thread.
  void run(uintptr_t stream, bool upload, uintptr_t host, uint64_t device, int64_t bytes, uintptr_t buffers,
      int64_t strip, int64_t threads) {
    Transfer transfer{driver_, context_, reinterpret_cast<Handle>(stream), reinterpret_cast<char*>(host),
        device, reinterpret_cast<char*>(buffers), bytes, strip};
    without_gil([&] {
      const auto upload_strips = [&](int64_t thread) { transfer.upload(thread); };
      const auto download_strips = [&](int64_t thread) { transfer.download(thread); };
      if (upload) return parallel_for(threads, upload_strips);
      parallel_for(threads, download_strips);
    });
  }

 private:
  Driver driver_;
  Handle context_ = nullptr;
};

}

void define_transfers(nb::module_& m) {
  nb::class_<Transfers>(m, "Transfers")
      .def(nb::init<int, std::string>(), nb::arg("device"), nb::arg("library"))
      .def("run", &Transfers::run, nb::arg("stream"), nb::arg("upload"), nb::arg("host"), nb::arg("device"),
          nb::arg("bytes"), nb::arg("buffers"), nb::arg("strip"), nb::arg("threads"));
}

}
