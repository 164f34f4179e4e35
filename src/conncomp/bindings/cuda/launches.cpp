// Launches made again and again with other arrays: arguments are packed once, and CUDA's driver is called
// without Python in between; from the second time on once, for all as a graph. Where the last of them tells a
// number, the host polls it: a microsecond, where waiting for a copy takes five.
#include <algorithm>
#include <chrono>
#include <mutex>
#include <numeric>
#include <thread>

#include "bindings/bindings.h"
#include "bindings/cuda/driver.h"

namespace conncomp {

// Launches that CUDA's driver makes as one, a graph: recorded node after node from an idle stream of their
// own; changed arguments are updated before a launch. Three kernels cost the host 2.5 microseconds, not 11.

// CUDA_KERNEL_NODE_PARAMS
struct KernelNode {
  Handle function;
  unsigned blocks, blocks_y = 1, blocks_z = 1, threads, threads_y = 1, threads_z = 1, shared;
  void** arguments;
  void** extra = nullptr;
  Handle kernel = nullptr, context = nullptr;
};

class LaunchGraph {
 public:
  // Records launch(0, stream), launch(1, stream), ... Throws where the driver cannot.
  LaunchGraph(const Driver& driver, size_t launches, auto&& launch)
      : driver_(driver), graph_(driver.graphs.destroy_graph), graph_to_launch_(driver.graphs.destroy_exec) {
    if (!driver.graphs.are_known()) throw std::runtime_error("CUDA's driver is older than such graphs");
    constexpr unsigned kNonBlocking = 1;
    const BesideCaptures others(driver);
    Owned stream(driver.graphs.destroy_stream);
    driver.check(driver.graphs.create_stream(&stream.handle, kNonBlocking));
    driver.check(driver.graphs.begin_capture(stream.handle, kRelaxed));
    try {
      for (size_t i = 0; i < launches; ++i) {
        launch(i, stream.handle);
        nodes_.push_back(last_node(stream.handle));
      }
    } catch (...) {
      driver.graphs.end_capture(stream.handle, &graph_.handle);
      throw;
    }
    driver.check(driver.graphs.end_capture(stream.handle, &graph_.handle));
    driver.check(driver.graphs.instantiate(&graph_to_launch_.handle, graph_.handle, 0));
  }

  // Gives a launch other arguments, from the next time on.
  void change(size_t launch, const KernelNode& node) const {
    driver_.check(driver_.graphs.set_node(graph_to_launch_.handle, nodes_[launch], &node));
  }
  void launch(Handle stream) const { driver_.check(driver_.graphs.launch(graph_to_launch_.handle, stream)); }

 private:
  // What was recorded last.
  Handle last_node(Handle stream) const {
    int status = 0;
    uint64_t id = 0;
    Handle graph = nullptr;
    const Handle* ahead = nullptr;
    const void* edges = nullptr;
    size_t count = 0;
    driver_.check(driver_.graphs.capture_info(stream, &status, &id, &graph, &ahead, &edges, &count));
    if (count != 1) throw std::runtime_error("CUDA's driver has recorded something else");
    return ahead[0];
  }

  const Driver& driver_;
  Owned graph_, graph_to_launch_;
  std::vector<Handle> nodes_;  // by launch
};

// CUlaunchAttributeID: all blocks run at once; a launch may begin before the one ahead of it has ended.
enum class Attribute : int { kTogether = 2, kOverlaps = 6 };

// CUlaunchAttribute
struct LaunchAttribute {
  Attribute id;
  char padding[4] = {};
  union {
    char whole[64];
    int is_set;
  } value{};

  explicit LaunchAttribute(Attribute id) : id(id) { value.is_set = 1; }
};

// CUlaunchConfig
struct LaunchConfig {
  unsigned blocks, blocks_y = 1, blocks_z = 1, threads, threads_y = 1, threads_z = 1, shared;
  Handle stream = nullptr;
  LaunchAttribute* attributes = nullptr;
  unsigned number_of_attributes = 0;
};

namespace {

// A value that differs between runs: that of `run` with this number, or its first bytes, at an offset of
// an argument.
struct Variable {
  size_t argument, offset, size, number;
};

class Launches {
 public:
  // Whether launches may `overlap`, as those of kernels that begin by follow_launch() may.
  Launches(int device, bool overlap, const std::string& library) : driver_(library), overlap_(overlap) {
    driver_.check(driver_.retain_context(&context_, device));
  }
  // Of any thread, which may have no context, or capture streams.
  ~Launches() {
    try {
      const CurrentContext current(driver_, context_);
      const BesideCaptures others(driver_);
      graph_.reset();
      numbers_read_.reset();
    } catch (const std::runtime_error&) {
      // When Python ends the driver may have ended before; then it has freed all.
    }
  }
  Launches(const Launches&) = delete;
  Launches& operator=(const Launches&) = delete;

  // Adds a launch, of so many blocks, threads and bytes of shared memory. `sizes` are those of its arguments,
  // side by side in `packed`; `variable` has the fields of ``Variable``.
  void add(uintptr_t function, std::array<unsigned, 3> size, bool together, const nb::bytes& packed,
      const std::vector<size_t>& sizes, const std::vector<std::array<size_t, 4>>& variable) {
    Launch launch{reinterpret_cast<Handle>(function), size[0], size[1], size[2], together, {}, {}, {}};
    const size_t all = std::accumulate(sizes.begin(), sizes.end(), size_t(0));
    if (all != packed.size())
      throw nb::value_error(("arguments have " + std::to_string(packed.size()) +
                             " bytes, and their sizes say " + std::to_string(all))
              .c_str());
    for (const auto& [argument, offset, bytes, number] : variable) {
      const size_t end = argument < sizes.size() ? sizes[argument] : 0;
      if (bytes > sizeof(uint64_t) || offset > end || bytes > end - offset)
        throw nb::value_error(
            ("argument " + std::to_string(argument) + " has no such bytes at " + std::to_string(offset))
                .c_str());
      launch.variable.push_back({argument, offset, bytes, number});
      numbers_ = std::max(numbers_, number + 1);
    }
    // Vectors of words are aligned for all that kernels take.
    size_t begin = 0;
    for (const size_t size : sizes) {
      auto& words = launch.arguments.emplace_back((size + sizeof(Word) - 1) / sizeof(Word));
      std::memcpy(words.data(), packed.c_str() + begin, size);
      begin += size;
    }
    for (auto& words : launch.arguments) launch.pointers.push_back(words.data());
    launches_.push_back(std::move(launch));
  }

  // The number at an address of the GPU, once the stream's earlier launches are done.
  int64_t read(uintptr_t stream, uintptr_t address) { return read_all(stream, address, 1)[0]; }

  std::vector<int64_t> read_all(uintptr_t stream, uintptr_t address, size_t count) {
    const CurrentContext current(driver_, context_);
    const WithoutGil others;
    const std::lock_guard<std::mutex> turn(reading_);
    const Handle on = reinterpret_cast<Handle>(stream);
    if (count == 0) return {};
    if (count > room_) {
      const BesideCaptures captures(driver_);
      room_ = 0;
      numbers_read_.emplace(driver_.free_pinned);
      driver_.check(driver_.take_pinned(&numbers_read_->handle, count * sizeof(int64_t)));
      room_ = count;
    }
    {
      Event copied(driver_);
      driver_.check(driver_.copy(
          reinterpret_cast<uintptr_t>(numbers_read_->handle), address, count * sizeof(int64_t), on));
      copied.record(on);
      copied.wait();
    }
    const auto* const first = static_cast<const int64_t*>(numbers_read_->handle);
    return {first, first + count};
  }

  // Lets `answer` return the 64 bits, not kUntold, that the last launch writes to pinned memory.
  void tell(uintptr_t address) { answer_ = reinterpret_cast<volatile int64_t*>(address); }

  // The number that the last run tells, once it is there. One thread runs and asks at a time.
  int64_t answer(uintptr_t stream) {
    if (!is_asked_) throw nb::value_error("no launches are under way that tell a number");
    if (*answer_ == kUntold && is_signalled_before_answer(reinterpret_cast<Handle>(stream)))
      throw nb::python_error();
    is_asked_ = false;
    return *answer_;
  }

  // Copies bytes between the GPU's addresses, once the stream's earlier launches are done.
  void copy(uintptr_t stream, uintptr_t target, uintptr_t source, size_t count) {
    const CurrentContext current(driver_, context_);
    driver_.check(driver_.copy(target, source, count, reinterpret_cast<Handle>(stream)));
  }

  // Python's lock is held, so that no other thread launches between.
  void run(uintptr_t stream, const std::vector<uint64_t>& values) {
    const CurrentContext current(driver_, context_);
    const Handle on = reinterpret_cast<Handle>(stream);
    if (values.size() < numbers_) throw nb::index_error("there are too few values");
    if (answer_) {
      // After a signal a run's launches may still be under way.
      if (is_asked_) answer(stream);
      *answer_ = kUntold;
    }
    for (Launch& launch : launches_) put_values(launch, values);
    if (make_graph(on)) {
      for (size_t i = 0; i < launches_.size(); ++i) {
        if (!launches_[i].is_news) continue;
        graph_->change(i, node_of(launches_[i]));
        launches_[i].is_news = false;
      }
      graph_->launch(on);
    } else {
      for (size_t i = 0; i < launches_.size(); ++i) launch(i, on);
    }
    is_asked_ = answer_ != nullptr;
  }

 private:
  struct alignas(16) Word {
    char bytes[16];
  };
  struct Launch {
    Handle function;
    unsigned blocks, threads, shared;
    bool together;
    std::vector<std::vector<Word>> arguments;
    std::vector<void*> pointers;  // to them
    std::vector<Variable> variable;
    bool is_news = false;  // whether the graph knows other arguments
  };

  // Waits for the number, or a signal whose handler raises; returns whether that has come.
  bool is_signalled_before_answer(Handle stream) {
    // Polls before the driver is asked for errors and Python for signals, some 20 microseconds; a thousand
    // times as many before the thread sleeps in between.
    constexpr int64_t kLooks = 1 << 14, kAwake = kLooks << 10;
    WithoutGil others;
    for (int64_t look = 1; *answer_ == kUntold; ++look) {
      if (look % kLooks != 0) continue;
      if (are_done(stream) && *answer_ == kUntold) {
        is_asked_ = false;
        throw std::runtime_error("CUDA: launches are done and have told no number");
      }
      if (others.signalled()) return true;
      if (look > kAwake) std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
    return false;
  }
  bool are_done(Handle stream) {
    constexpr int kNotReady = 600;  // CUDA_ERROR_NOT_READY
    const CurrentContext current(driver_, context_);
    const BesideCaptures captures(driver_);
    const int status = driver_.query_stream(stream);
    if (status != kNotReady) driver_.check(status);
    return status != kNotReady;
  }

  static void put_values(Launch& launch, const std::vector<uint64_t>& values) {
    for (const auto& [argument, offset, bytes, number] : launch.variable) {
      char* const place = static_cast<char*>(launch.pointers[argument]) + offset;
      if (std::memcmp(place, &values[number], bytes) == 0) continue;
      std::memcpy(place, &values[number], bytes);
      launch.is_news = true;
    }
  }
  void launch(size_t number, Handle stream) {
    Launch& launch = launches_[number];
    // What is ahead of the first one is not ours.
    LaunchAttribute attribute(launch.together ? Attribute::kTogether : Attribute::kOverlaps);
    const bool has_attribute = launch.together || (overlap_ && number > 0);
    const LaunchConfig config{.blocks = launch.blocks,
        .threads = launch.threads,
        .shared = launch.shared,
        .stream = stream,
        .attributes = has_attribute ? &attribute : nullptr,
        .number_of_attributes = has_attribute};
    driver_.check(driver_.launch(&config, launch.function, launch.pointers.data(), nullptr));
  }
  static KernelNode node_of(Launch& launch) {
    return {.function = launch.function,
        .blocks = launch.blocks,
        .threads = launch.threads,
        .shared = launch.shared,
        .arguments = launch.pointers.data()};
  }
  // Whether there is a graph to launch on a stream. None if the caller's graph takes the launches, or they
  // run once.
  bool make_graph(Handle stream) {
    int status = 0;
    if (!driver_.graphs.are_known() || driver_.graphs.is_capturing(stream, &status) != 0 || status)
      return false;
    if (graph_) return true;
    if (++runs_ != 2) return false;
    try {
      graph_.emplace(driver_, launches_.size(), [this](size_t i, Handle on) { launch(i, on); });
    } catch (const std::runtime_error&) {
      return false;  // it is not tried again
    }
    for (Launch& launch : launches_) launch.is_news = false;
    return true;
  }

  Driver driver_;
  bool overlap_;
  Handle context_ = nullptr;
  std::vector<Launch> launches_;
  std::optional<LaunchGraph> graph_;
  size_t numbers_ = 0;  // of values
  int64_t runs_ = 0;
  // Where the last launch tells a number, and whether one is under way.
  static constexpr int64_t kUntold = std::numeric_limits<int64_t>::min();
  volatile int64_t* answer_ = nullptr;
  bool is_asked_ = false;
  // Pinned memory, which a copy goes to at once, and for how many numbers.
  std::optional<Owned> numbers_read_;
  size_t room_ = 0;
  std::mutex reading_;
};

}

void define_launches(nb::module_& m) {
  nb::class_<Launches>(m, "Launches")
      .def(nb::init<int, bool, std::string>(), nb::arg("device"), nb::arg("overlap"), nb::arg("library"))
      .def("add", &Launches::add, nb::arg("function"), nb::arg("size"), nb::arg("together"),
          nb::arg("packed"), nb::arg("sizes"), nb::arg("variable"))
      .def("run", &Launches::run, nb::arg("stream"), nb::arg("values"))
      .def("tell", &Launches::tell, nb::arg("address"))
      .def("answer", &Launches::answer, nb::arg("stream"))
      .def("copy", &Launches::copy, nb::arg("stream"), nb::arg("target"), nb::arg("source"), nb::arg("count"))
      .def("read", &Launches::read, nb::arg("stream"), nb::arg("address"))
      .def("read_all", &Launches::read_all, nb::arg("stream"), nb::arg("address"), nb::arg("count"));
}

}
