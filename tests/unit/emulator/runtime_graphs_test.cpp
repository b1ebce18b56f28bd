// Stream capture and graphs.
#include "runtime_harness.hpp"

using namespace causeway::emulator;
using namespace causeway::emulator::test;

namespace {

TEST(Graphs, CaptureRunsNothingAndLaunchRepeats) {
  cudaStream_t stream, side;
  cudaEvent_t fork, join;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&fork), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&join), cudaSuccess);
  DeviceArray<int> value(3);
  int* data = value.get();

  cudaStreamCaptureStatus status;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  configure(1, 4, 0, stream);
  enter([=] { atomicAdd(data, 1); });
  ASSERT_EQ(cudaEventRecord(fork, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(side, fork), cudaSuccess);
  configure(1, 1, 0, side);
  enter([=] { data[1] = data[0] * 10; });
  ASSERT_EQ(cudaEventRecord(join, side), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(stream, join), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(data + 2, data + 1, 4, cudaMemcpyDeviceToDevice, stream), cudaSuccess);
  cudaGraph_t graph;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  EXPECT_EQ(value.host()[0], 0);

  cudaGraphExec_t exec;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaGraphUpload(exec, stream), cudaSuccess);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(value.host(), (std::vector<int>{20, 200, 200}));

  EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaErrorInvalidResourceHandle);
  // The event was last recorded in a capture; recording it again makes it an ordinary one.
  ASSERT_EQ(cudaEventRecord(fork, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(side, fork), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(side), cudaSuccess);
  cudaEventDestroy(fork);
  cudaEventDestroy(join);
  cudaStreamDestroy(side);
  cudaStreamDestroy(stream);
  cudaGetLastError();
}

TEST(Graphs, WrongUse) {
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaErrorIllegalState);
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphExec_t exec = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);  // an empty graph
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  cudaGetLastError();
}

}  // namespace
