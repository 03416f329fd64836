#include "runtime/own_launch.hpp"
#include "runtime/plan_launch.hpp"
#include "spec/inside.hpp"
#include "spec/refuse.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <span>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

void require_state(const void* state) {
  if (state == nullptr)
    refuse("this launch was moved from and launches nothing; use the one that it was moved to");
}

}  // namespace

/// The state of a prepared launch, followed in memory by the launch's image.
struct alignas(cache_line) PreparedLaunch::State : WithTrailingBytes<PreparedLaunch::State> {
  /// `write(memory)` writes the launch's image.
  template <class Write>
  State(std::shared_ptr<const KernelState> its_kernel, std::span<const LaunchImage::Part> parts,
        std::uint64_t its_bytes_moved, const Write& write)
      : kernel(std::move(its_kernel)),
        operand_count(static_cast<std::uint32_t>(parts.size())),
        bytes_moved(its_bytes_moved) {
    std::ranges::transform(parts, operands.begin(), &LaunchImage::Part::as_planned);
    write(trailing_bytes());
  }
  [[nodiscard]] const LaunchImage& image() const noexcept {
    return *reinterpret_cast<const LaunchImage*>(trailing_bytes());
  }

  std::shared_ptr<const KernelState> kernel;  // keeps the code loaded
  std::uint32_t operand_count;
  std::uint64_t bytes_moved;
  std::array<DevicePtr, max_operands> operands{};  ///< addresses of the operands
};

PreparedLaunch::PreparedLaunch(std::unique_ptr<State> state) : state_(std::move(state)) {}
PreparedLaunch::PreparedLaunch(PreparedLaunch&&) noexcept = default;
PreparedLaunch& PreparedLaunch::operator=(PreparedLaunch&&) noexcept = default;
PreparedLaunch::~PreparedLaunch() = default;

void PreparedLaunch::operator()(Stream stream) const {
  require_state(state_.get());
  state_->image()(state_->operands, stream);
}

void PreparedLaunch::rebind(List<DevicePtr> operands) {
  require_state(state_.get());
  if (operands.size() != state_->operand_count) {
    const std::size_t count = operands.size();
    const std::string addresses = fmt::format("{} address{}", count, count == 1 ? "" : "es");
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{} for a launch of {}; one address for each is needed, in the order of the plan: the "
                    "destination's first, or as the tensors of an OwnLaunch",
                    addresses, counted(state_->operand_count, "operand")));
  }
  std::ranges::copy(operands, state_->operands.begin());
}

const LaunchShape& PreparedLaunch::shape() const noexcept {
  static const LaunchShape nothing{};
  return state_ == nullptr ? nothing : state_->image().shape();
}
std::uint64_t PreparedLaunch::bytes_moved() const noexcept {
  return state_ == nullptr ? 0 : state_->bytes_moved;
}

PreparedLaunch Kernel::prepare(const KernelPlan& plan) const {
  require_plan(*state_, plan);
  const OperandParts all = parts_of(plan);
  const auto parts = std::span(all).first(Inside::state(plan)->problem.nest.operands);
  return PreparedLaunch(std::unique_ptr<PreparedLaunch::State>(new (TrailingBytes{
      image_bytes(plan)}) PreparedLaunch::State(state_, parts, plan.bytes_moved(), [&](void* memory) {
    write_image(memory, *state_, plan, parts);
  })));
}

PreparedLaunch Kernel::prepare(const OwnLaunch& launch) const {
  require_device(*state_);
  const ParameterBlock parameters = checked_parameters(launch, *state_);
  const std::vector<LaunchImage::Part> parts = parts_of(launch);
  return PreparedLaunch(std::unique_ptr<PreparedLaunch::State>(new (TrailingBytes{LaunchImage::bytes_for(
      parameters)}) PreparedLaunch::State(state_, parts, bytes_of(launch), [&](void* memory) {
    LaunchImage::write(memory, parameters, launch.shape, parts, {*state_->loaded, state_->device->maps()});
  })));
}

TMAJIT_END
