#include "families/ragged/check_ragged.hpp"

#include "spec/counted.hpp"
#include "spec/memory_rules.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr auto rules_source = "tmajit, plan_ragged";

std::span<const std::uint64_t> extents(const TensorView& view) {
  return std::span(view.shape).first(std::min(view.rank, max_view_rank));
}

/// Checks one tensor by itself, and against the first destination.
void check_one(const Tensor& tensor, const Tensor& first, const std::function<std::string()>& name,
               Violations& violations) {
  const std::size_t before = violations.count();
  check_view_limits(tensor.view, name, violations);
  if (violations.count() != before) return;
  if (tensor.view.rank != first.view.rank) {
    violations.add(
        {.rule = "ragged.rank",
         .subject = fmt::format("{}: rank", name()),
         .found = counted(tensor.view.rank, "dimension"),
         .need = fmt::format("{}, the rank of destination 0: a batch has one rank", first.view.rank),
         .legal = "dimensions of extent 1 added by reshaped(), or a batch of its own",
         .source = rules_source});
  }
  if (is_known(first.view.type) && size_of(tensor.view.type) != size_of(first.view.type)) {
    violations.add(
        {.rule = "ragged.type",
         .subject = fmt::format("{}: type", name()),
         .found = fmt::format("{}, whose elements have {}", tmajit::name(tensor.view.type),
                              counted(size_of(tensor.view.type), "byte")),
         .need = fmt::format("elements of {}, like {} of destination 0: a batch moves bits of one size",
                             counted(size_of(first.view.type), "byte"), tmajit::name(first.view.type)),
         .legal = "a cast first, or a batch of its own",
         .source = rules_source});
  }
  check_placed_address(tensor.view, tensor.address, size_of(tensor.view.type), name, violations);
}

}  // namespace

void check_ragged(std::span<const Tensor> destinations, std::span<const Tensor> sources,
                  Violations& violations) {
  const auto name_of = [&](std::size_t operand) {
    return operand % 2 == 0 ? fmt::format("destination {}", operand / 2)
                            : fmt::format("source {}", operand / 2);
  };
  std::vector<PlacedOperand> operands;
  operands.reserve(2 * destinations.size());
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    const Tensor& to = destinations[i];
    const Tensor& from = sources[i];
    const std::size_t before = violations.count();
    const auto to_name = [&] { return name_of(2 * i); };
    check_one(to, destinations[0], to_name, violations);
    check_one(
        from, destinations[0], [&] { return name_of(2 * i + 1); }, violations);
    const auto group = static_cast<std::uint32_t>(i);
    operands.push_back({&to.view, to.address, true, group});
    operands.push_back({&from.view, from.address, false, group});
    if (violations.count() != before) continue;
    if (!std::ranges::equal(extents(to.view), extents(from.view))) {
      violations.add({.rule = "view.shape",
                      .subject = fmt::format("source {}: shape", i),
                      .found = shape_text(extents(from.view)),
                      .need = fmt::format("{}, as destination {} has", shape_text(extents(to.view)), i),
                      .legal = "a source that is broadcast or sliced to that shape",
                      .source = rules_source});
    }
    check_written_once(to.view, to.address, to_name, violations);
  }
  if (violations.count() == 0) check_disjoint(operands, name_of, violations);
}

TMAJIT_END
