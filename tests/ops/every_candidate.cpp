#include "ops/every_candidate.hpp"

#include "operations/references.hpp"
#include "ptx_alone.hpp"

#include <tmajit/element_type.hpp>
#include <tmajit/sim.hpp>

#include <algorithm>
#include <numeric>
#include <sstream>

using namespace tmajit;
using reference::between, reference::one_in, reference::one_of, reference::Random;

namespace tests {
namespace {

constexpr std::byte fill{0xee};

/// `first`: bytes from an operand's lowest element to its element of index 0. `bytes`: bytes from the lowest
/// element to the end of the highest.
struct Extent {
  std::uint64_t first = 0;
  std::uint64_t bytes = 0;
};
Extent extent_of(const TensorView& view) {
  Extent extent{0, size_of(view.type)};
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    const std::int64_t last =
        view.strides[d] * static_cast<std::int64_t>((view.shape[d] - 1) * size_of(view.type));
    if (last < 0) extent.first += static_cast<std::uint64_t>(-last);
    extent.bytes += static_cast<std::uint64_t>(last < 0 ? -last : last);
  }
  return extent;
}

}  // namespace

MoveOperand move_operand(ElementType type, const std::vector<std::uint64_t>& shape,
                         const std::vector<std::int64_t>& strides, std::uint64_t shift) {
  return {TensorView::strided(type, shape, strides), shift};
}

Runtime random_order_runtime() {
  SimOptions options{.threads = 1};
  options.mode = SimOptions::Mode::random;
  return Runtime({.device = make_sim_device(options),
                  .cache_directory = shared_kernels(),
                  .compile = ptx_without_lines});
}

void launch(Runtime& runtime, const Problem& problem, const Candidate& candidate) {
  const KernelPlan plan = make_kernel_plan(candidate, problem);
  runtime.kernel(plan).launch(plan);
}

EveryCandidate::EveryCandidate(Runtime& runtime, const MoveOperand& destination,
                               const std::vector<MoveOperand>& sources, std::string expression,
                               std::optional<Padding> padding, std::uint32_t sm_count)
    : runtime_(runtime), move_{.destination = place(destination), .sources = {}} {
  if (padding) move_.body = *padding;
  if (!expression.empty()) move_.body = Map{std::move(expression)};
  for (const MoveOperand& source : sources) move_.sources.push_back(place(source));
  Move done = move_;
  done.destination = host(move_.destination, 0);
  for (std::size_t i = 0; i < sources.size(); ++i) done.sources[i] = host(move_.sources[i], i + 1);
  reference::compute(done);
  problem_ = make_problem(move_);
  problem_.sm_count = sm_count;
  candidates_ = candidates_of(problem_);
}

Tensor EveryCandidate::host(const Tensor& tensor, std::size_t i) {
  return {tensor.view,
          reinterpret_cast<DevicePtr>(host_[i].data()) + (tensor.address - buffers_[i].address())};
}

std::string EveryCandidate::run(const Candidate& candidate) {
  Device& device = *runtime_.device();
  device.memory().copy_in(buffers_[0].address(), std::vector(host_[0].size(), fill), nullptr);
  launch(runtime_, problem_, candidate);
  device.streams().synchronize(nullptr);
  std::vector<std::byte> found(host_[0].size());
  device.memory().copy_out(found, buffers_[0].address(), nullptr);
  device.streams().synchronize(nullptr);
  const auto [at, expected] = std::ranges::mismatch(found, host_[0]);
  if (at == found.end()) return {};
  std::ostringstream out;
  out << choice_text(candidate) << ": byte " << at - found.begin() << " of " << found.size() << " is "
      << std::to_integer<int>(*at) << ", not " << std::to_integer<int>(*expected);
  return out.str();
}

Tensor EveryCandidate::place(const MoveOperand& operand) {
  const Extent extent = extent_of(operand.view);
  const std::size_t i = buffers_.size();
  buffers_.emplace_back(runtime_.device(), operand.shift + extent.bytes);
  host_.emplace_back(operand.shift + extent.bytes, fill);
  // Neighbouring bytes of sources differ. All bytes are below 113, so that floats are finite.
  if (i > 0) {
    for (std::size_t n = 0; n < host_[i].size(); ++n) host_[i][n] = std::byte(n * 37 % 113);
    runtime_.device()->memory().copy_in(buffers_[i].address(), host_[i], nullptr);
  }
  return {operand.view, buffers_[i].address() + operand.shift + extent.first};
}

RandomPermutation random_permutation(std::uint64_t seed, std::uint64_t max_elements) {
  constexpr ElementType types[] = {ElementType::u8, ElementType::bf16, ElementType::f32, ElementType::f64};
  Random random(seed);
  const ElementType type = one_of(random, types);
  const std::uint64_t vector = 16 / size_of(type);
  const auto rank = static_cast<std::uint32_t>(between(random, 1, max_view_rank));
  const bool aligned = one_in(random, 2);
  std::vector<std::uint64_t> shape(rank, 1);
  std::uint64_t elements = 1;
  // The dimensions that are contiguous in source or destination get most of the elements, unless all are
  // short. Tiles then span several dimensions.
  const std::uint64_t longest = one_in(random, 4) ? 12 : 400;
  const auto other = static_cast<std::uint32_t>(between(random, 0, rank - 1));
  for (std::uint32_t k = 0; k < rank; ++k) {
    const std::uint32_t d = k == 0 ? rank - 1 : k == 1 ? other : k - 1;
    if (shape[d] > 1) continue;
    const std::uint64_t most = std::max<std::uint64_t>(max_elements / elements, 1);
    shape[d] = between(random, 1, std::min<std::uint64_t>(most, k < 2 ? longest : 9));
    if (aligned && k < 2) shape[d] = (shape[d] + vector - 1) / vector * vector;
    elements *= shape[d];
  }
  std::vector<std::uint32_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0U);
  std::shuffle(axes.begin(), axes.end(), random);
  // In half of the cases the other long dimension is contiguous in the destination.
  if (one_in(random, 2)) std::iter_swap(std::ranges::find(axes, other), axes.end() - 1);

  RandomPermutation result;
  std::vector<std::int64_t> strides(rank);
  std::int64_t step = 1;
  for (std::uint32_t d = rank; d-- > 0;) {
    strides[d] = step;
    step *= static_cast<std::int64_t>(shape[d]);
    if (one_in(random, 8)) step += static_cast<std::int64_t>(aligned ? vector : 3);
  }
  const std::uint64_t shift = aligned ? 0 : between(random, 0, 3) * size_of(type);
  std::vector<std::uint64_t> to_shape;
  std::vector<std::int64_t> from_strides;
  for (const std::uint32_t axis : axes) {
    to_shape.push_back(shape[axis]);
    from_strides.push_back(strides[axis]);
  }
  result.source = move_operand(type, to_shape, from_strides, shift);
  result.destination = {TensorView::contiguous(type, to_shape), shift};
  return result;
}

std::string RandomPermutation::text() const {
  std::ostringstream out;
  out << name(source.view.type) << ", shift " << source.shift << ":";
  for (std::uint32_t d = 0; d < source.view.rank; ++d) {
    out << ' ' << source.view.shape[d] << " (" << source.view.strides[d] << ')';
  }
  return out.str();
}

}  // namespace tests
