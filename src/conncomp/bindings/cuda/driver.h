// CUDA's driver, called from C++.
//
// It is found when it is first needed, as the module is built and loaded where there is none.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace conncomp {

// CUresult is 0 where all is well. Contexts, functions, streams and events are handles.
using Handle = void*;

struct LaunchConfig;  // CUlaunchConfig
struct KernelNode;    // CUDA_KERNEL_NODE_PARAMS

// What drivers know since CUDA 12.3.
struct GraphCalls {
  int (*create_stream)(Handle*, unsigned flags);
  int (*destroy_stream)(Handle);
  int (*is_capturing)(Handle stream, int* status);
  int (*begin_capture)(Handle stream, int mode);
  int (*end_capture)(Handle stream, Handle* graph);
  int (*capture_info)(Handle stream, int* status, uint64_t* id, Handle* graph, const Handle** ahead,
      const void** edges, size_t* count);
  int (*instantiate)(Handle*, Handle graph, unsigned long long flags);
  int (*set_node)(Handle graph, Handle node, const KernelNode*);
  int (*launch)(Handle graph, Handle stream);
  int (*destroy_graph)(Handle);
  int (*destroy_exec)(Handle);

  bool are_known() const {
    return create_stream && destroy_stream && is_capturing && begin_capture && end_capture && capture_info &&
           instantiate && set_node && launch && destroy_graph && destroy_exec;
  }
};

struct Driver {
  int (*get_error_string)(int, const char**);
  int (*retain_context)(Handle*, int device);
  int (*get_context)(Handle*);
  int (*set_context)(Handle);
  int (*launch)(const LaunchConfig*, Handle function, void** arguments, void** extra);
  int (*copy)(uint64_t target, uint64_t source, size_t bytes, Handle stream);
  int (*create_event)(Handle*, unsigned flags);
  int (*record_event)(Handle, Handle stream);
  int (*wait_for_event)(Handle);
  int (*destroy_event)(Handle);
  int (*query_stream)(Handle);
  int (*exchange_capture_mode)(int*);
  int (*take_pinned)(Handle*, size_t bytes);
  int (*free_pinned)(Handle);
  GraphCalls graphs;

  explicit Driver(const std::string& library) {
    void* const opened = dlopen(library.c_str(), RTLD_NOW);
    if (!opened) throw std::runtime_error("CUDA's driver, " + library + ", cannot be loaded");
    find(opened, "cuGetErrorString", get_error_string);
    find(opened, "cuDevicePrimaryCtxRetain", retain_context);
    find(opened, "cuCtxGetCurrent", get_context);
    find(opened, "cuCtxSetCurrent", set_context);
    find(opened, "cuLaunchKernelEx", launch);
    find(opened, "cuMemcpyAsync", copy);
    find(opened, "cuEventCreate", create_event);
    find(opened, "cuEventRecord", record_event);
    find(opened, "cuEventSynchronize", wait_for_event);
    find(opened, "cuEventDestroy_v2", destroy_event);
    find(opened, "cuStreamQuery", query_stream);
    find(opened, "cuThreadExchangeStreamCaptureMode", exchange_capture_mode);
    find(opened, "cuMemAllocHost_v2", take_pinned);
    find(opened, "cuMemFreeHost", free_pinned);
    look_for(opened, "cuStreamCreate", graphs.create_stream);
    look_for(opened, "cuStreamDestroy_v2", graphs.destroy_stream);
    look_for(opened, "cuStreamIsCapturing", graphs.is_capturing);
    look_for(opened, "cuStreamBeginCapture_v2", graphs.begin_capture);
    look_for(opened, "cuStreamEndCapture", graphs.end_capture);
    look_for(opened, "cuStreamGetCaptureInfo_v3", graphs.capture_info);
    look_for(opened, "cuGraphInstantiateWithFlags", graphs.instantiate);
    look_for(opened, "cuGraphExecKernelNodeSetParams_v2", graphs.set_node);
    look_for(opened, "cuGraphLaunch", graphs.launch);
    look_for(opened, "cuGraphDestroy", graphs.destroy_graph);
    look_for(opened, "cuGraphExecDestroy", graphs.destroy_exec);
  }
  void check(int result) const {
    if (result == 0) return;
    const char* text = nullptr;
    get_error_string(result, &text);
    throw std::runtime_error(std::string("CUDA: ") + (text ? text : "unknown error"));
  }

 private:
  template <class Function> static void look_for(void* opened, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(opened, name));
  }
  static void find(void* opened, const char* name, auto& function) {
    look_for(opened, name, function);
    if (!function) throw std::runtime_error(std::string("CUDA's driver has no ") + name);
  }
};

// The context of a device, where kernels are loaded, is current as long as it exists.
class CurrentContext {
 public:
  CurrentContext(const Driver& driver, Handle context) : driver_(driver) {
    driver.check(driver.get_context(&before_));
    if (before_ == context) return;
    driver.check(driver.set_context(context));
    changed_ = true;
  }
  ~CurrentContext() {
    if (changed_ && before_) driver_.set_context(before_);
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;

 private:
  const Driver& driver_;
  Handle before_ = nullptr;
  bool changed_ = false;
};

// CUstreamCaptureMode: what a thread may not ask of the driver while streams are captured is nothing.
constexpr int kRelaxed = 2;

// While it exists, this thread's allocations neither fail nor end what others capture.
class BesideCaptures {
 public:
  explicit BesideCaptures(const Driver& driver) : driver_(driver) { driver.exchange_capture_mode(&mode_); }
  ~BesideCaptures() { driver_.exchange_capture_mode(&mode_); }
  BesideCaptures(const BesideCaptures&) = delete;
  BesideCaptures& operator=(const BesideCaptures&) = delete;

 private:
  const Driver& driver_;
  int mode_ = kRelaxed;
};

// What is destroyed in the end: a handle of the driver.
class Owned {
 public:
  explicit Owned(int (*destroy)(Handle)) : destroy_(destroy) {}
  ~Owned() {
    if (handle) destroy_(handle);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  Handle handle = nullptr;

 private:
  int (*destroy_)(Handle);
};

// An event of a stream: whether what was launched there before is done.
class Event {
 public:
  explicit Event(const Driver& driver) : driver_(driver) {
    constexpr unsigned kWithoutTime = 2;
    driver.check(driver.create_event(&event_, kWithoutTime));
  }
  // What was copied before is no longer read or written once it is gone.
  ~Event() {
    driver_.wait_for_event(event_);
    driver_.destroy_event(event_);
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(Handle stream) { driver_.check(driver_.record_event(event_, stream)); }
  // Returns at once if it was never recorded.
  void wait() { driver_.check(driver_.wait_for_event(event_)); }

 private:
  const Driver& driver_;
  Handle event_ = nullptr;
};

}
