#include "operations/list.hpp"
#include "operations/shared/make.hpp"
#include "operations/shared/rounding.hpp"
#include "operations/shared/shapes.hpp"
#include "spec/counted.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// The axis of a legal scan, counted from the front.
std::uint32_t axis_of(const Move& move) {
  return dimension_of(std::get<Scan>(move.body).axis, move.destination.view.rank).value();
}

void check_scan(MoveRules& rules) {
  const auto& scan = std::get<Scan>(rules.move().body);
  const std::string subject = fmt::format("scan to {}", rules.destination());
  if (!rules.check_min_sources(1)) return;
  if (scan.expression.empty() && rules.move().sources.size() != 1) {
    rules.add("sources.expression", subject,
              fmt::format("{} sources without an expression", rules.move().sources.size()),
              "1 source, since its values are scanned as they are",
              "an expression of all of them, such as \"x0 * x1\"");
  }
  rules.check_expression(scan.expression);
  const ExpressionReads reads = reads_of(scan.expression);
  if (reads.g || reads.t || reads.tile_index) {
    rules.add("scan.expression", subject, fmt::format("\"{}\"", scan.expression),
              "an expression of the sources' elements alone: scans know no coordinates",
              "a map that computes it, and a scan of the map's destination");
  }
  rules.check_shapes();
  const std::size_t rank = extents(rules.move().destination.view).size();
  if (dimension_of(scan.axis, rank)) return;
  rules.add("scan.axis", subject, fmt::format("axis {}", scan.axis),
            fmt::format("an axis of the destination, which has {}", counted(rank, "dimension")),
            rank == 0 ? "a copy, since a single element has no axis" : legal_axes(rank));
}

/// Makes the canonical problem. The last dimension of its nest is the scanned one, in the scan's direction.
Problem scan_problem(const Move& move) {
  const auto& scan = std::get<Scan>(move.body);
  Problem problem{.body =
                      ScanProblem{scan.op, scan.exclusive, scan.expression.empty() ? "x" : scan.expression}};
  const std::uint32_t axis = axis_of(move);
  const std::uint64_t length = move.destination.view.shape[axis];
  Move outer = move;
  outer.destination.view = without_dimension(move.destination.view, axis);
  for (Tensor& source : outer.sources) source.view = without_dimension(source.view, axis);
  set_operands(problem, outer);
  set_reach(problem, move);
  CanonicalNest& nest = problem.nest;
  if (nest.empty() || length == 0) {
    nest.rank = 1;
    nest.shape[0] = 0;
    return problem;
  }
  nest.shape[nest.rank] = length;
  for (std::uint32_t i = 0; i < nest.operands; ++i) {
    const TensorView& view = i == 0 ? move.destination.view : move.sources[i - 1].view;
    const std::int64_t stride = view.strides[axis];
    nest.operand[i].strides[nest.rank] = scan.reverse ? -stride : stride;
    if (!scan.reverse) continue;
    const std::int64_t last = stride * static_cast<std::int64_t>(length - 1);
    nest.operand[i].offset += last;
    problem.address[i] += static_cast<DevicePtr>(last * static_cast<std::int64_t>(size_of(view.type)));
  }
  ++nest.rank;
  return problem;
}

bool scan_same_bits(const Move& move) {
  const auto& scan = std::get<Scan>(move.body);
  const bool accumulates = scan.op == ScanOp::sum || scan.op == ScanOp::product;
  return accumulates ? sums_integers(move, scan.expression) : rounds_alike(scan.expression);
}

/// In place is legal: each element is read only by the thread that later overwrites it.
constexpr OperationRules scan_rules{
    .in_place = true, .check = check_scan, .problem = scan_problem, .same_bits = scan_same_bits};

}  // namespace

const OperationRules& rules_of(const Scan&) noexcept {
  return scan_rules;
}

Operation operation::scan(const Tensor& destination, const Scan& what, List<Tensor> sources) {
  if (sources.empty()) refuse("a scan without a source; at least one is needed");
  Move move{.destination = destination, .sources = {}, .body = what};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string name = sources.size() == 1 ? std::string(the_source) : fmt::format("source {}", i);
    move.sources.push_back(broadcast(sources[i], shape_of(destination), name));
  }
  return one_move(std::move(move), sources);
}

TMAJIT_END
