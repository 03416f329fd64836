#include "driver/graph.hpp"

#include "driver/error.hpp"

TMAJIT_BEGIN
namespace driver {
namespace {

/// What was captured since `cuStreamBeginCapture`, null if that went wrong.
CUgraph end_capture(const Api& api, Stream stream, CUresult& result) {
  CUgraph graph = nullptr;
  result = api.stream_end_capture(stream, &graph);
  return result == CUDA_SUCCESS ? graph : nullptr;
}

}  // namespace

Graph::Graph(const Api& api, Stream stream, const std::function<void()>& work) : api_(api) {
  // Thread-local: other threads may go on with calls that a capture forbids.
  check(api, api.stream_begin_capture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "cuStreamBeginCapture");
  CUresult result = CUDA_SUCCESS;
  try {
    work();
  } catch (...) {
    if (const CUgraph graph = end_capture(api, stream, result)) api.graph_destroy(graph);
    throw;
  }
  const CUgraph graph = end_capture(api, stream, result);
  check(api, result, "cuStreamEndCapture");
  result = api.graph_instantiate(&exec_, graph, 0);
  api.graph_destroy(graph);
  check(api, result, "cuGraphInstantiateWithFlags");
}

Graph::~Graph() {
  api_.graph_exec_destroy(exec_);
}

void Graph::launch(Stream stream) const {
  check(api_, api_.graph_launch(exec_, stream), "cuGraphLaunch");
}

}  // namespace driver
TMAJIT_END
