// Stream capture and graphs.
#include <causeway/emulator/runtime/handles.hpp>
#include <causeway/emulator/runtime/streams.hpp>
#include <causeway/machine/cpu/context.hpp>

struct CUgraph_st {
  explicit CUgraph_st(std::shared_ptr<const causeway::cpu::Graph> captured) : graph(std::move(captured)) {}
  std::shared_ptr<const causeway::cpu::Graph> graph;
};
struct CUgraphExec_st {
  explicit CUgraphExec_st(std::shared_ptr<const causeway::cpu::Graph> captured) : graph(std::move(captured)) {}
  std::shared_ptr<const causeway::cpu::Graph> graph;
};

using namespace causeway;
using namespace causeway::emulator;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return device_call([&] {
    refuse_if(mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed, cudaErrorInvalidValue);
    cpu::Stream* captured = stream_of(stream);
    // Work in the legacy stream waits for other streams, so it cannot be in a graph.
    refuse_if(captured == cpu::device().default_stream(), cudaErrorStreamCaptureUnsupported);
    refuse_if(!cpu::device().begin_capture(captured), cudaErrorIllegalState);
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return device_call([&] {
    refuse_if(!graph, cudaErrorInvalidValue);
    auto captured = cpu::device().end_capture(stream_of(stream));
    refuse_if(!captured, cudaErrorIllegalState);
    *graph = handles<CUgraph_st>().create(std::move(captured));
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return device_call([&] {
    refuse_if(!status, cudaErrorInvalidValue);
    *status = cpu::device().capturing(stream_of(stream)) ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  });
}

// The modes differ in which unsafe calls of other threads they forbid; none is unsafe here.
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return host_call([&] {
    thread_local cudaStreamCaptureMode current = cudaStreamCaptureModeGlobal;
    refuse_if(!mode, cudaErrorInvalidValue);
    std::swap(*mode, current);
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return device_call([&] {
    constexpr unsigned long long known = cudaGraphInstantiateFlagAutoFreeOnLaunch | cudaGraphInstantiateFlagUpload |
                                         cudaGraphInstantiateFlagUseNodePriority;
    refuse_if(!exec || (flags & ~known), cudaErrorInvalidValue);
    *exec = handles<CUgraphExec_st>().create(handles<CUgraph_st>().get(graph)->graph);
  });
}
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiate(exec, graph, flags);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  return device_call([&] {
    // The running launch keeps the graph, so the handle may be destroyed right after.
    cpu::device().launch_graph(handles<CUgraphExec_st>().get(exec)->graph, running_stream_of(stream));
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  return device_call([&] {
    handles<CUgraphExec_st>().get(exec);
    stream_of(stream);
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return device_call([&] { handles<CUgraphExec_st>().destroy(exec); });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return device_call([&] { handles<CUgraph_st>().destroy(graph); });
}
