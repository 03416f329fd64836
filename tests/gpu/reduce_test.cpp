/// Compares every candidate of reductions that several CTAs share with the reference, and tests the scratch
/// memory of launches on several streams and in graphs.
#include "gpu/current_context.hpp"
#include "gpu/support.hpp"
#include "ops/run_case.hpp"

#include <array>
#include <numeric>
#include <vector>

using namespace tmajit;
using gpu::CurrentContext;

namespace {

constexpr std::uint64_t elements = 1 << 22;

/// An array of small whole numbers, and a reduction that sums it.
class Sums {
 public:
  Sums(const std::shared_ptr<Device>& device, std::uint64_t seed)
      : device_(device), from_(device, elements * sizeof(float)), to_(device, sizeof(float)) {
    std::vector<float> values(elements);
    reference::Random random(seed);
    for (float& value : values) value = static_cast<float>(reference::between(random, 0, 3));
    sum_ = std::accumulate(values.begin(), values.end(), 0.0F);
    device_->memory().copy_in(from_.address(), std::as_bytes(std::span(values)), nullptr);
    device_->streams().synchronize(nullptr);
  }
  [[nodiscard]] Operation operation() const {
    return operation::reduce({TensorView::contiguous(ElementType::f32, Dims{}), to_.address()}, {.axes = {0}},
                             {{TensorView::contiguous(ElementType::f32, {elements}), from_.address()}});
  }
  [[nodiscard]] bool is_right() {
    float got = 0;
    device_->memory().copy_out(std::as_writable_bytes(std::span(&got, 1)), to_.address(), nullptr);
    device_->streams().synchronize(nullptr);
    device_->memory().fill(to_.address(), std::byte{0xA5}, sizeof got, nullptr);
    device_->streams().synchronize(nullptr);
    return got == sum_;
  }

 private:
  std::shared_ptr<Device> device_;
  Buffer from_, to_;
  float sum_ = 0;
};

}  // namespace

TEST_CASE("several CTAs that share a reduction give the reference's results on a GPU", "[gpu]") {
  REQUIRE_HOPPER(device);
  Runtime runtime({.device = device, .cache_directory = std::nullopt});
  for (const std::int64_t axis : {0, 1}) {
    for (const char* op : {"sum", "arg_min"}) {
      const Dims shape = axis == 0 ? Dims{100'003, 36} : Dims{9, 400'001};
      const auto reduction = reference::dense_case("reduce", {{"op", op}, {"axes", Dims{axis}}}, {},
                                                   {TensorView::contiguous(ElementType::f32, shape)});
      INFO(reduction.text());
      CHECK(tests::run_candidates(runtime, reduction, 7) == "");
    }
  }
}

TEST_CASE("one plan of a reduction can run on several streams and in graphs at once", "[gpu]") {
  REQUIRE_HOPPER(device);
  const CurrentContext context(*device);
  const Runtime runtime({.device = device, .cache_directory = std::nullopt});
  std::vector<Sums> sums;
  std::vector<Plan> plans;
  std::vector<Stream> streams;
  for (std::uint64_t i = 0; i < 6; ++i) {
    sums.emplace_back(device, i + 1);
    plans.push_back(plan(runtime, sums.back().operation()));
    streams.push_back(device->streams().create());
  }
  CHECK(plans.front().plans().front().launch_shape().scratch_bytes > 0);
  const driver::Api& api = CurrentContext::api();
  CUgraphExec exec = nullptr;
  REQUIRE(api.stream_begin_capture(streams[0], CU_STREAM_CAPTURE_MODE_GLOBAL) == CUDA_SUCCESS);
  plans[0](streams[0]);
  plans[1](streams[0]);
  CUgraph graph = nullptr;
  REQUIRE(api.stream_end_capture(streams[0], &graph) == CUDA_SUCCESS);
  REQUIRE(api.graph_instantiate(&exec, graph, 0) == CUDA_SUCCESS);
  REQUIRE(api.graph_destroy(graph) == CUDA_SUCCESS);
  for (int round = 0; round < 20; ++round) {
    REQUIRE(api.graph_launch(exec, streams[0]) == CUDA_SUCCESS);
    for (std::size_t i = 2; i < plans.size(); ++i) {
      for (int again = 0; again < 4; ++again) plans[i](streams[i]);
    }
    for (const Stream stream : streams) device->streams().synchronize(stream);
    for (Sums& one : sums) CHECK(one.is_right());
  }
  CHECK(api.graph_exec_destroy(exec) == CUDA_SUCCESS);
  for (const Stream stream : streams) device->streams().destroy(stream);
}
