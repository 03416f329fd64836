#include "operations/references.hpp"
#include "reference/closeness.hpp"
#include "reference/expression.hpp"

namespace reference {
namespace {

std::optional<Expression> expression_of(const tmajit::Move& move) {
  return Expression::parse(std::get<tmajit::Map>(move.body).expression);
}

void map(const tmajit::Move& move, const Part& part) {
  const Expression expression = expression_of(move).value();
  const tmajit::Tensor& to = move.destination;
  std::vector<Scalar> x(move.sources.size());
  for_each_index(to.view.rank, part, [&](const Index& index) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const tmajit::Tensor& source = move.sources[i];
      x[i] = decode(source.view.type, element_at(source, offset_of(source.view, index)));
    }
    encode(to.view.type, expression.evaluate(x), element_at(to, offset_of(to.view, index)));
  });
}

constexpr OperationReference map_reference{.compute = map,
                                           .understands =
                                               [](const tmajit::Move& move) {
                                                 const auto expression = expression_of(move);
                                                 return expression && expression->offsets() == 0;
                                               },
                                           .rounding =
                                               [](const tmajit::Move& move) {
                                                 if (expression_of(move)->rounds_once())
                                                   return Rounding::once;
                                                 return computes_in_f32(move.sources) ? Rounding::in_f32
                                                                                      : Rounding::in_f64;
                                               }};

}  // namespace

const OperationReference& reference_of(const tmajit::Map& /*map*/) noexcept {
  return map_reference;
}

}  // namespace reference
