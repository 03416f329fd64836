#include "operations/list.hpp"
#include "operations/shared/make.hpp"
#include "operations/shared/rounding.hpp"
#include "spec/counted.hpp"
#include "spec/memory_rules.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

using CastResult = CastTranspose::Result;

const CastTranspose& cast_transpose_of(const Move& move) {
  return std::get<CastTranspose>(move.body);
}

bool is_cast_type(ElementType type) noexcept {
  using enum ElementType;
  return type == e4m3 || type == e5m2 || type == i8 || type == f16 || type == bf16;
}

/// The view with its last two dimensions swapped.
TensorView swapped_matrix(TensorView view) {
  std::swap(view.shape[view.rank - 1], view.shape[view.rank - 2]);
  std::swap(view.strides[view.rank - 1], view.strides[view.rank - 2]);
  return view;
}

/// Checks x and the scale. Returns whether x has at least two dimensions. The moves of one operation have the
/// same sources: the first one reports their mistakes.
bool check_cast_sources(MoveRules& rules) {
  const std::vector<Tensor>& sources = rules.move().sources;
  const TensorView& x = sources[0].view;
  const auto& [orders, amax, result] = cast_transpose_of(rules.move());
  const bool is_first =
      result == (orders == CastOrders::transposed ? CastResult::transposed : CastResult::plain);
  if (!is_first) return x.rank >= 2;
  using enum ElementType;
  if (x.type != f16 && x.type != bf16 && x.type != f32) {
    rules.add("cast_transpose.type", fmt::format("{}: type", rules.source(0)), std::string(name(x.type)),
              "f16, bf16 or f32", "a cast to one of these types");
  }
  if (sources.size() > 1) {
    const TensorView& scale = sources[1].view;
    if (scale.type != f32) {
      rules.add("cast_transpose.scale", fmt::format("{}, the scale: type", rules.source(1)),
                std::string(name(scale.type)), "f32", "a tensor of f32, or number(1.0f)");
    }
    if (!scale.is_number && scale.elements() != 1) {
      rules.add("cast_transpose.scale", fmt::format("{}, the scale: shape", rules.source(1)),
                shape_text(extents(scale)), "one element",
                "quantize_rows, which computes a scale for each row");
    }
  }
  if (x.rank >= 2) return true;
  rules.add("cast_transpose.rank", fmt::format("{}: shape", rules.source(0)), shape_text(extents(x)),
            "2 or more dimensions, of which the last two are the matrix", "a view with an extent of 1");
  return false;
}

void check_cast_transpose(MoveRules& rules) {
  const Move& move = rules.move();
  if (!rules.check_min_sources(1) || !check_cast_sources(rules)) return;
  const TensorView& to = move.destination.view;
  const TensorView& x = move.sources[0].view;
  if (cast_transpose_of(move).result == CastResult::amax) {
    if (to.type != ElementType::f32 || to.elements() != 1) {
      rules.add("cast_transpose.amax", fmt::format("{}, the greatest magnitude", rules.destination()),
                fmt::format("{} of {}", shape_text(extents(to)), name(to.type)), "one element of f32",
                "a tensor of rank 0");
    }
    if (x.elements() == 0) {
      rules.add("reduction.elements", fmt::format("{}, the greatest magnitude", rules.destination()),
                "no elements", "at least one element of x", "amax = no, and a fill with the wanted value");
    }
    return;
  }
  if (!is_cast_type(to.type)) {
    rules.add("cast_transpose.to", fmt::format("{}: type", rules.destination()), std::string(name(to.type)),
              "e4m3, e5m2, i8, f16 or bf16", "a map, which converts to every type");
  }
  const bool transposes = cast_transpose_of(move).result == CastResult::transposed;
  const TensorView wanted = transposes ? swapped_matrix(x) : x;
  if (std::ranges::equal(extents(to), extents(wanted))) return;
  rules.add(
      "view.shape", fmt::format("{}: shape", rules.destination()), shape_text(extents(to)),
      fmt::format("{}, as {} has {}", shape_text(extents(wanted)), rules.source(0), shape_text(extents(x))),
      "a destination of that shape");
}

/// A view of x's shape that repeats one element.
TensorView repeated(const TensorView& one, const TensorView& x) {
  TensorView view = x;
  view.type = one.type;
  view.is_number = one.is_number;
  view.strides = {};
  return view;
}

/// The greatest magnitude alone, as a reduction.
Problem amax_problem(const Move& move) {
  const Tensor& x = move.sources[0];
  Tensor destination = move.destination;
  destination.view = TensorView::contiguous(ElementType::f32, {});
  return make_problem(
      operation::reduce(destination, {.op = ReductionOp::max, .expression = "fabsf(x)"}, {x}).moves.front());
}

/// All operands have x's shape. The scale and the greatest magnitude repeat one element.
Problem cast_transpose_problem(std::span<const Move> moves) {
  if (cast_transpose_of(moves.front()).result == CastResult::amax) return amax_problem(moves.front());
  const Tensor& x = moves.front().sources[0];
  std::vector<Tensor> operands;
  const auto add_destination = [&](const Move& move) {
    const TensorView& to = move.destination.view;
    switch (cast_transpose_of(move).result) {
      case CastResult::plain: return operands.push_back(move.destination);
      case CastResult::transposed: return operands.push_back({swapped_matrix(to), move.destination.address});
      case CastResult::amax: return operands.push_back({repeated(to, x.view), move.destination.address});
    }
  };
  add_destination(moves.front());
  operands.push_back(x);
  for (const Tensor& scale : std::span(moves.front().sources).subspan(1))
    operands.push_back({repeated(scale.view, x.view), scale.address});
  for (const Move& move : moves.subspan(1)) add_destination(move);
  Problem problem{
      .destination = moves.front().destination.view,
      .body = CastTransposeProblem{.amax = cast_transpose_of(moves.back()).result == CastResult::amax},
      .destinations = static_cast<std::uint32_t>(moves.size())};
  set_operands(problem, operands, {.keep_dimensions = true});
  set_reach(problem, operands);
  return problem;
}

bool are_joint_casts(const Move& a, const Move& b) {
  const auto* const one = std::get_if<CastTranspose>(&a.body);
  const auto* const other = std::get_if<CastTranspose>(&b.body);
  if (one == nullptr || other == nullptr || one->result >= other->result || a.sources != b.sources)
    return false;
  return other->result == CastResult::amax || a.destination.view.type == b.destination.view.type;
}

constexpr OperationRules cast_transpose_rules{.check = check_cast_transpose,
                                              .problem =
                                                  [](const Move& move) {
                                                    return cast_transpose_problem({&move, 1});
                                                  },
                                              .joint_problem = cast_transpose_problem,
                                              .are_joint = are_joint_casts,
                                              .same_bits = moves_bits};

}  // namespace

const OperationRules& rules_of(const CastTranspose&) noexcept {
  return cast_transpose_rules;
}

Operation operation::cast_transpose(List<Tensor> destinations, const CastTranspose& what,
                                    List<Tensor> sources) {
  if (sources.empty() || sources.size() > 2) {
    refuse("cast_transpose of {}; needed are x and the scale, or x alone", counted(sources.size(), "source"));
  }
  std::vector<CastResult> results;
  std::vector<std::string_view> names;
  const auto add = [&](bool wanted, CastResult result, std::string_view called) {
    if (!wanted) return;
    results.push_back(result);
    names.push_back(called);
  };
  add(what.orders != CastOrders::transposed, CastResult::plain, "y");
  add(what.orders != CastOrders::plain, CastResult::transposed, "transposed");
  add(what.amax, CastResult::amax, "amax");
  if (destinations.size() != results.size()) {
    refuse_destinations("cast_transpose", destinations.size(), names);
  }
  if (what.orders == CastOrders::both && destinations[0].view.type != destinations[1].view.type) {
    refuse("cast_transpose: y has elements of {}, and transposed of {}; both must be the same",
           name(destinations[0].view.type), name(destinations[1].view.type));
  }
  if (sources[0].view.is_number) refuse("cast_transpose: x is a number; legal is a tensor");
  Operation operation{.moves = {},
                      .destinations = {destinations.begin(), destinations.end()},
                      .sources = {sources.begin(), sources.end()}};
  for (std::size_t k = 0; k < results.size(); ++k) {
    CastTranspose one = what;
    one.result = results[k];
    operation.moves.push_back(
        {.destination = destinations[k], .sources = {sources.begin(), sources.end()}, .body = one});
  }
  return operation;
}

TMAJIT_END
