#include "sim/mutants.hpp"

#include "ptx_alone.hpp"

#include <tmajit/tiles.hpp>

#include <array>

namespace tests {

using namespace tmajit;

std::shared_ptr<SimDevice> run(Base kind, const Edit& edit, bool& finished, std::uint64_t seed,
                               SimOptions::Mode mode) {
  const auto sim = make_sim_device(
      {.mode = mode, .seed = seed, .threads = 1, .instruction_limit = 2'000'000, .sm_count = 2});
  Runtime runtime({.device = std::make_shared<EditingDevice>(sim, edit),
                   .cache_directory = tests::shared_kernels(),
                   .compile = tests::ptx_alone});
  const bool flat = kind == Base::bulk;
  const auto view = flat ? TensorView::contiguous(ElementType::f32, {20'000})
                         : TensorView::contiguous(ElementType::f32, {160, 96});
  const std::array<std::uint32_t, 2> box{16, 32};
  const std::array<std::uint32_t, 1> chunk{512};
  TileOptions options;
  options.box = flat ? std::span<const std::uint32_t>(chunk) : std::span<const std::uint32_t>(box);
  options.stages = 3;
  options.ctas_per_sm = 1;
  if (kind == Base::swizzled) options.swizzle = Swizzle::b128;
  const Buffer in(sim, view.span_bytes());
  const Buffer out(sim, view.span_bytes());
  sim->memory().fill(in.address(), std::byte{1}, view.span_bytes(), nullptr);
  TileRequest request{.family = "copy",
                      .destination = {view, out.address()},
                      .sources = {{view, in.address()}},
                      .tiles = options};
  if (kind == Base::reduce_into) request.family = "reduce_into";
  if (kind == Base::map || flat) {
    request.family = flat ? "bulk" : "map";
    request.expression = "x * 2 + 1";
  }
  finished = true;
  const KernelPlan plan = plan_tiles(request);
  runtime.kernel(plan).launch(plan);
  try {
    sim->streams().synchronize(nullptr);
  } catch (const Error&) {
    finished = false;
  }
  return sim;
}

}  // namespace tests
