// Launches that CUDA's driver makes as one: a graph.
//
// How: they are recorded from a stream of their own, on which nothing runs, one node after the other; those
// whose arguments have changed are told so before the graph is launched. Cost: launching three kernels
// takes 2.5 microseconds of the host for 11.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "bindings/cuda/driver.h"

namespace conncomp {

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
  // Records launch(0, stream), launch(1, stream) and so on, as many as there are. Throws where the driver
  // does not know how.
  template <class Launch>
  LaunchGraph(const Driver& driver, size_t launches, Launch&& launch)
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

}  // namespace conncomp
