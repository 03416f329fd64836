#include "sequences/cases.hpp"

#include "sequences/journal.hpp"

#include <tmajit/tiles.hpp>

#include <atomic>
#include <utility>

using namespace tmajit;
using reference::TestCase;

namespace sequences {
namespace {

constexpr std::uint64_t alignment = 256;
constexpr std::size_t cases_per_operation = 2;
constexpr reference::CaseLimits small{.elements = 600, .max_elements = 600, .bytes = 60'000};

std::vector<DevicePtr> addresses_of(const std::vector<Tensor>& tensors) {
  std::vector<DevicePtr> addresses;
  addresses.reserve(tensors.size());
  for (const Tensor& tensor : tensors) addresses.push_back(tensor.address);
  return addresses;
}

Case with_expected(TestCase definition, std::string_view family) {
  Case one{.definition = std::move(definition), .family = family};
  one.before = random_buffers(one.definition, 1);
  one.expected = reference::expected(one.definition, one.before);
  one.unit = one.definition.shift();
  return one;
}

/// The f32 operation y = x or, for a family that computes, y = -x.
Case tiled(std::string_view family, bool computes, const std::vector<std::uint64_t>& shape) {
  const TensorView view = TensorView::contiguous(ElementType::f32, shape);
  TestCase definition = reference::dense_case(computes ? "map" : "copy", {}, {view}, {view});
  if (computes) definition.arguments.set("expression", "-x0");
  return with_expected(std::move(definition), family);
}

}  // namespace

std::vector<Case> make_cases() {
  std::vector<Case> cases{tiled("copy", false, {32, 48}), tiled("map", true, {32, 48}),
                          tiled("bulk", true, {1500})};
  for (const std::string_view operation : reference::elementwise_operations) {
    for (std::uint64_t pattern = 0; pattern < cases_per_operation; ++pattern)
      cases.push_back(with_expected(reference::random_test_case(operation, pattern, 0, small), {}));
  }
  return cases;
}

Placement::Placement(std::shared_ptr<Device> device, const Case& test_case, std::uint64_t shift)
    : device_(std::move(device)), case_(test_case), shift_(shift) {
  static std::atomic<DevicePtr> next_unused = DevicePtr{1} << 41;
  std::uint64_t bytes = alignment;
  for (const std::uint64_t each : test_case.definition.buffers)
    bytes += reference::round_up(each + shift, alignment);
  if (device_) memory_ = Buffer(device_, bytes);
  DevicePtr next = reference::round_up(device_ ? memory_.address() : next_unused.fetch_add(bytes), alignment);
  for (const std::uint64_t each : test_case.definition.buffers) {
    addresses_.push_back(next + shift);
    next += reference::round_up(each + shift, alignment);
  }
}

Operation Placement::operation() const {
  return reference::operation_of(case_.definition, addresses_);
}
std::vector<DevicePtr> Placement::destinations() const {
  return addresses_of(operation().destinations);
}
std::vector<DevicePtr> Placement::sources() const {
  return addresses_of(operation().sources);
}

void Placement::write(Stream stream) const {
  for (std::size_t i = 0; i < addresses_.size(); ++i)
    device_->memory().copy_in(addresses_[i], case_.before[i], stream);
}

void Placement::check(Stream stream) const {
  device_->streams().synchronize(stream);
  reference::Buffers found = case_.before;
  for (std::size_t i = 0; i < found.size(); ++i) device_->memory().copy_out(found[i], addresses_[i], stream);
  device_->streams().synchronize(stream);
  const std::string wrong = difference(case_.definition, case_.expected, std::move(found));
  if (!wrong.empty()) throw Failure(wrong + "\n  " + case_.definition.text());
}

std::vector<KernelPlan> kernel_plans(const Placement& placement, const Chip& chip) {
  const Operation operation = placement.operation();
  const Case& test_case = placement.test_case();
  if (test_case.family.empty()) return plan_kernels(operation, {.chip = chip});
  return {plan_tiles({.family = test_case.family,
                      .destination = operation.destinations[0],
                      .sources = operation.sources,
                      .expression = test_case.definition.arguments.text("expression"),
                      .chip = chip})};
}

std::vector<std::vector<DevicePtr>> operands(const Placement& placement,
                                             const std::vector<KernelPlan>& plans) {
  std::vector<std::vector<DevicePtr>> all;
  const Operation operation = placement.operation();
  for (const Move& move : operation.moves) {
    if (move.destination.view.elements() == 0) continue;  // no kernel
    const KernelPlan& plan = plans.at(all.size());
    std::vector<DevicePtr>& operands = all.emplace_back();
    for (std::uint32_t i = 0; i <= move.sources.size(); ++i) operands.push_back(plan.operand_address(i));
  }
  return all;
}

void call(const Runtime& runtime, const Placement& placement, Stream stream) {
  const Operation given = placement.operation();
  const std::vector<Tensor>& destinations = given.destinations;
  const std::vector<Tensor>& sources = given.sources;
  const Arguments& arguments = placement.test_case().definition.arguments;
  const std::string_view name = placement.test_case().definition.operation;
  if (name == "permute") return permute(runtime, destinations[0], sources[0], arguments.dims("axes"), stream);
  if (name == "slice") return slice(runtime, destinations[0], sources[0], arguments.slices("slices"), stream);
  if (name == "pad") {
    const Padding padding{.before = arguments.widths("widths").before, .value = arguments.number("value")};
    return pad(runtime, destinations[0], sources[0], padding, stream);
  }
  if (name == "concat") {
    return concat(runtime, destinations[0], sources, arguments.axis("axis"), stream,
                  arguments.text("new_axis") == "yes");
  }
  if (name == "split") {
    return split(runtime, destinations, sources[0], arguments.axis("axis"), stream,
                 arguments.text("drop_axis") == "yes");
  }
  if (name == "cast") return cast(runtime, destinations[0], sources[0], stream);
  if (name == "map") return map(runtime, destinations[0], arguments.text("expression"), sources, stream);
  Tensor source = sources[0];
  if (name == "flip") {
    for (const std::int64_t axis : arguments.dims("axes")) source = flipped(source, axis);
  }
  copy(runtime, destinations[0], source, stream);
}

}  // namespace sequences
