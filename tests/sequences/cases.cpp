#include "sequences/cases.hpp"

#include "ops/run_move.hpp"
#include "sequences/journal.hpp"

#include <tmajit/tiles.hpp>

#include <array>
#include <atomic>
#include <numeric>
#include <utility>

using namespace tmajit;
using reference::MoveKind, reference::RandomMove;

namespace sequences {
namespace {

constexpr std::uint64_t alignment = 256;
constexpr std::size_t of_each_kind = 2;
constexpr reference::MoveLimits small{.elements = 600, .most_elements = 600, .bytes = 60'000};

std::uint64_t round_up(std::uint64_t bytes) {
  return (bytes + alignment - 1) / alignment * alignment;
}

Case finished(RandomMove move, std::string_view family) {
  Case one{.move = std::move(move), .family = family};
  one.before = random_buffers(one.move, 1);
  one.expected = one.before;
  reference::apply(one.move, one.expected);
  one.unit = tests::largest_element(one.move);
  return one;
}

/// y = x or, of a family that computes, y = -x of f32.
Case tiled(std::string_view family, bool computes, std::vector<std::uint64_t> shape) {
  const TensorView view = TensorView::contiguous(ElementType::f32, shape);
  RandomMove move;
  move.kind = computes ? MoveKind::map : MoveKind::copy;
  move.destinations = {{view, 0, 0}};
  move.sources = {{view, 1, 0}};
  move.buffers = {view.span_bytes(), view.span_bytes()};
  if (computes) {
    move.expression = "-x0";
    move.function = [](std::span<const reference::Scalar> x, std::span<const std::uint64_t>) {
      return reference::scalar(-std::get<float>(x[0]));
    };
  }
  return finished(std::move(move), family);
}

}  // namespace

std::vector<Case> make_cases() {
  std::vector<Case> cases{tiled("copy", false, {32, 48}), tiled("map", true, {32, 48}),
                          tiled("bulk", true, {1500})};
  std::array<std::size_t, reference::all_move_kinds.size()> found{};
  std::size_t missing = found.size() * of_each_kind;
  for (std::uint64_t pattern = 0; missing > 0; ++pattern) {
    RandomMove move = reference::random_move(pattern, 0, small);
    std::size_t& count = found[static_cast<std::size_t>(move.kind)];
    if (count == of_each_kind) continue;
    ++count;
    --missing;
    cases.push_back(finished(std::move(move), {}));
  }
  return cases;
}

Placement::Placement(std::shared_ptr<Device> device, const Case& what, std::uint64_t shift)
    : device_(std::move(device)), what_(what), shift_(shift) {
  static std::atomic<DevicePtr> nowhere = DevicePtr{1} << 41;
  std::uint64_t bytes = alignment;
  for (const std::uint64_t each : what.move.buffers) bytes += round_up(each + shift);
  if (device_) memory_ = Buffer(device_, bytes);
  DevicePtr next = round_up(device_ ? memory_.address() : nowhere.fetch_add(bytes));
  for (const std::uint64_t each : what.move.buffers) {
    addresses_.push_back(next + shift);
    next += round_up(each + shift);
  }
}

Operation Placement::operation() const {
  return tests::operation_of(what_.move, addresses_);
}
std::vector<DevicePtr> Placement::destinations() const {
  return tests::addresses(what_.move, addresses_).destinations;
}
std::vector<DevicePtr> Placement::sources() const {
  return tests::addresses(what_.move, addresses_).sources;
}

void Placement::write(Stream stream) const {
  for (std::size_t i = 0; i < addresses_.size(); ++i)
    device_->memory().copy_in(addresses_[i], what_.before[i], stream);
}

void Placement::check(Stream stream) const {
  device_->streams().synchronize(stream);
  reference::Buffers found = what_.before;
  for (std::size_t i = 0; i < found.size(); ++i) device_->memory().copy_out(found[i], addresses_[i], stream);
  device_->streams().synchronize(stream);
  const std::string wrong = difference(what_.move, what_.expected, std::move(found));
  if (!wrong.empty()) throw Failure(wrong + "\n  " + describe(what_.move));
}

std::vector<KernelPlan> kernel_plans(const Placement& at, const Chip& chip) {
  const Operation operation = at.operation();
  const Case& what = at.what();
  if (what.family.empty()) return plan(operation, {.chip = chip});
  return {plan_tiles({.family = what.family,
                      .destination = operation.destinations[0],
                      .sources = operation.sources,
                      .expression = what.move.expression,
                      .chip = chip})};
}

std::vector<std::vector<DevicePtr>> operands(const Placement& at, const std::vector<KernelPlan>& plans) {
  std::vector<std::vector<DevicePtr>> all;
  const Operation operation = at.operation();
  for (const Move& move : operation.moves) {
    if (move.destination.view.elements() == 0) continue;  // which has no kernel
    const KernelPlan& plan = plans.at(all.size());
    std::vector<DevicePtr>& operands = all.emplace_back();
    for (std::uint32_t i = 0; i <= move.sources.size(); ++i) operands.push_back(plan.operand_address(i));
  }
  return all;
}

void call(const Runtime& runtime, const Placement& at, Stream stream) {
  const Operation given = at.operation();
  const std::vector<Tensor>& to = given.destinations;
  const std::vector<Tensor>& from = given.sources;
  const RandomMove& move = at.what().move;
  switch (move.kind) {
    case MoveKind::copy:
    case MoveKind::flip: return copy(runtime, to[0], from[0], stream);
    case MoveKind::permute: return permute(runtime, to[0], from[0], move.axes, stream);
    case MoveKind::slice: return slice(runtime, to[0], from[0], move.slices, stream);
    case MoveKind::pad:
      return pad(runtime, to[0], from[0], {.before = move.before, .value = move.value}, stream);
    case MoveKind::concat: return concat(runtime, to[0], from, move.axis, stream);
    case MoveKind::split: return split(runtime, to, from[0], move.axis, stream);
    case MoveKind::cast: return cast(runtime, to[0], from[0], stream);
    case MoveKind::map: return map(runtime, to[0], move.expression, from, stream);
  }
}

}  // namespace sequences
