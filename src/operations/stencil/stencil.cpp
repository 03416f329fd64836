#include "kernel/stencil_calls.hpp"
#include "operations/list.hpp"
#include "operations/shared/make.hpp"
#include "operations/shared/rounding.hpp"
#include "spec/counted.hpp"
#include "spec/views.hpp"

#include <tmajit/tile_options.hpp>

#include <string>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

void check_stencil(MoveRules& rules) {
  const Move& move = rules.move();
  const auto& stencil = std::get<Stencil>(move.body);
  const std::string subject = fmt::format("expression of {}", rules.destination());
  rules.check_expression(stencil.expression);
  rules.check_coordinates(stencil.expression);
  rules.check_shapes();
  const std::size_t tensors = move.sources.size() - count_numbers(move.sources);
  if (tensors == 0 || move.sources.size() > max_inputs) {
    const bool has_numbers = tensors < move.sources.size();
    rules.add(
        "stencil.sources", fmt::format("stencil of {}", rules.destination()),
        has_numbers && tensors == 0 ? std::string("numbers alone") : counted(move.sources.size(), "source"),
        fmt::format("1 to {} sources, of which at least 1 is a tensor", max_inputs),
        "several stencils, one after the other");
    return;
  }
  StencilCalls calls;
  if (const auto mistake = read_calls(stencil.expression, static_cast<std::uint32_t>(tensors), calls)) {
    rules.add("stencil.offsets", subject,
              fmt::format("\"{}\", at character {}", stencil.expression, mistake->offset), mistake->need,
              "x0(-1, 0), of two dimensions");
    return;
  }
  if (calls.offsets == 0) {
    rules.add("stencil.calls", subject, fmt::format("\"{}\"", stencil.expression),
              "a call of a source with offsets, such as x0(-1, 0)", "a map, where no neighbours are read");
    return;
  }
  const std::uint32_t rank = move.destination.view.rank;
  if (stencil_dims(stencil, rank, calls.offsets)) return;
  const Dims& dims = stencil.dims;
  rules.add("stencil.dims", fmt::format("dimensions of the stencil of {}", rules.destination()),
            dims.empty()
                ? fmt::format("{} for {}", counted(calls.offsets, "offset"), counted(rank, "dimension"))
                : fmt::format("{}", fmt::join(dims, ", ")),
            fmt::format("{} of the tensor's {}, one for each offset of a call",
                        calls.offsets == 1 ? "1" : fmt::format("{} different ones", calls.offsets),
                        counted(rank, "dimension")),
            dims.empty() ? "fewer offsets" : "no list, for the last dimensions");
}

Problem stencil_problem(const Move& move) {
  const auto& stencil = std::get<Stencil>(move.body);
  StencilProblem body{.expression = stencil.expression, .reads = reads_of(stencil.expression)};
  const auto tensors = static_cast<std::uint32_t>(move.sources.size()) - count_numbers(move.sources);
  static_cast<void>(read_calls(stencil.expression, tensors, body.calls));
  body.dim = stencil_dims(stencil, move.destination.view.rank, body.calls.offsets).value();
  body.boundary = stencil.boundary;
  body.value = stencil.value;
  return elementwise_problem(move, std::move(body), {.keep_dimensions = true});
}

// Not in place: several elements of the destination depend on one element of a source.
constexpr OperationRules stencil_rules{
    .check = check_stencil, .problem = stencil_problem, .same_bits = [](const Move& move) {
      return rounds_alike(std::get<Stencil>(move.body).expression);
    }};

}  // namespace

const OperationRules& rules_of(const Stencil&) noexcept {
  return stencil_rules;
}

Operation operation::stencil(const Tensor& destination, std::string_view expression, List<Tensor> sources,
                             const Stencil& stencil) {
  Operation made = map(destination, expression, sources);
  Stencil& body = made.moves.front().body.emplace<Stencil>(stencil);
  body.expression = expression;
  return made;
}

TMAJIT_END
