#include "ops/run_case.hpp"

#include "operations/list.hpp"
#include "plan/candidates.hpp"

#include <tmajit/plan.hpp>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

using namespace tmajit;
using reference::Buffers, reference::Expected, reference::TestCase;

namespace tests {
namespace {

/// run_case() runs all candidates only if there are no more than these. Otherwise it runs one of them.
constexpr std::size_t max_candidates_of_case = 6;

class OwnAllocations : public CaseMemory {
 public:
  OwnAllocations(std::shared_ptr<Device> device, const TestCase& test_case, std::uint64_t shift)
      : device_(std::move(device)) {
    for (const std::uint64_t bytes : test_case.buffers) {
      memory_.emplace_back(device_, bytes + shift);
      addresses_.push_back(memory_.back().address() + shift);
    }
  }
  void write(const Buffers& buffers) override {
    for (std::size_t i = 0; i < buffers.size(); ++i)
      device_->memory().copy_in(addresses_[i], buffers[i], nullptr);
  }
  [[nodiscard]] Buffers read(const Buffers& like) override {
    Buffers buffers = like;
    device_->streams().synchronize(nullptr);
    for (std::size_t i = 0; i < buffers.size(); ++i)
      device_->memory().copy_out(buffers[i], addresses_[i], nullptr);
    device_->streams().synchronize(nullptr);
    return buffers;
  }
  [[nodiscard]] std::span<const DevicePtr> addresses() const override { return addresses_; }

 private:
  std::shared_ptr<Device> device_;
  std::vector<Buffer> memory_;
  std::vector<DevicePtr> addresses_;
};

/// For each kernel of the operation, the plans of all its candidates.
std::vector<std::vector<KernelPlan>> candidates_of_moves(const Operation& operation, const Chip& chip) {
  std::vector<std::vector<KernelPlan>> all;
  for (const std::span<const Move> moves : kernels_of(operation.moves)) {
    if (writes_elements(moves)) all.push_back(candidates_of_kernel(moves, {.chip = chip}));
  }
  return all;
}

std::string run_candidates(Runtime& runtime, const TestCase& test_case, CaseMemory& memory,
                           const Buffers& before, const Expected& expected, std::uint64_t seed,
                           std::size_t max_candidates, const Chip& chip) {
  const Operation operation = reference::operation_of(test_case, memory.addresses());
  if (operation.one_launch) return {};
  const auto plans = candidates_of_moves(operation, chip);
  std::size_t count = 0;
  for (const auto& of_move : plans) count = std::max(count, of_move.size());
  const bool all = count <= max_candidates;
  const bool are_same_bits = std::ranges::all_of(kernels_of(operation.moves), same_bits);
  std::optional<Buffers> first;
  for (std::size_t i = 0; i < count; ++i) {
    if (!all && i != seed % count && !(i == 0 && are_same_bits)) continue;
    Buffers found[2];
    std::string kernels;
    for (Buffers& of_launch : found) {
      memory.write(before);
      for (const auto& of_move : plans) {
        const KernelPlan& plan = of_move[i % of_move.size()];
        if (&of_launch == &found[0]) kernels += plan.choice().text() + ": ";
        runtime.kernel(plan).launch(plan, memory.stream());
      }
      of_launch = memory.read(before);
    }
    const std::string wrong = difference(test_case, expected, found[0]);
    if (!wrong.empty()) return kernels + wrong;
    if (found[0] != found[1]) return kernels + "the second launch left other bits";
    if (are_same_bits && first && *first != found[0])
      return kernels + "other bits than another kernel's, although all kernels should store the same";
    if (!first) first = std::move(found[0]);
  }
  return {};
}

}  // namespace

MakeMemory own_allocations(const std::shared_ptr<Device>& device) {
  return [device](const TestCase& test_case, std::uint64_t shift) {
    return std::make_unique<OwnAllocations>(device, test_case, shift);
  };
}

std::vector<DevicePtr> addresses_of(const std::vector<Tensor>& tensors) {
  std::vector<DevicePtr> addresses;
  addresses.reserve(tensors.size());
  for (const Tensor& tensor : tensors) addresses.push_back(tensor.address);
  return addresses;
}

void KernelsMet::add(const Plan& plan) {
  for (const MoveStep& step : plan.explain().steps) ++counts[step.kernel];
  for (const Kernel& kernel : plan.kernels()) keys.insert(kernel.key().hex());
}

std::string KernelsMet::text() const {
  std::ostringstream out;
  for (const auto& [kernel, times] : counts) out << "  " << kernel << ": " << times << '\n';
  return out.str();
}

std::string run_case(Runtime& runtime, const TestCase& test_case, const MakeMemory& make_memory,
                     std::uint64_t seed, std::uint64_t n, KernelsMet& met) {
  const Buffers before = random_buffers(test_case, seed);
  const Expected right = expected(test_case, before);
  const auto memory = make_memory(test_case, 0);
  const Plan plan = tmajit::plan(runtime, reference::operation_of(test_case, memory->addresses()));
  met.add(plan);
  memory->write(before);
  plan(memory->stream());
  const Buffers found = memory->read(before);
  if (std::string wrong = difference(test_case, right, found); !wrong.empty()) return wrong;
  memory->write(before);
  plan(memory->stream());
  if (memory->read(before) != found) return "the second launch left other bits";
  if (n % 4 == 2) {
    // A third launch, on the results of the second one.
    plan(memory->stream());
    const Expected again = expected(test_case, found);
    if (const std::string wrong = difference(test_case, again, memory->read(before)); !wrong.empty())
      return "again, " + wrong;
  }
  if (n % 4 == 0) {
    const auto elsewhere = make_memory(test_case, test_case.shift());
    elsewhere->write(before);
    const Operation there = reference::operation_of(test_case, elsewhere->addresses());
    plan(addresses_of(there.destinations), addresses_of(there.sources), elsewhere->stream());
    const std::string wrong = difference(test_case, right, elsewhere->read(before));
    if (!wrong.empty()) return "at new addresses, " + wrong;
  }
  return n % 2 == 0 ? ""
                    : run_candidates(runtime, test_case, *memory, before, right, seed, max_candidates_of_case,
                                     runtime.chip());
}

std::string run_candidates(Runtime& runtime, const TestCase& test_case, std::uint64_t seed,
                           const std::optional<Chip>& chip) {
  const Buffers before = random_buffers(test_case, seed);
  const auto memory = own_allocations(runtime.device())(test_case, 0);
  return run_candidates(runtime, test_case, *memory, before, expected(test_case, before), seed, SIZE_MAX,
                        chip.value_or(runtime.chip()));
}

}  // namespace tests
