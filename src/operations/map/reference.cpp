#include "operations/references.hpp"
#include "operations/shared/source_values_reference.hpp"
#include "reference/expression.hpp"

namespace reference {
namespace {

std::optional<Expression> map_expression(const tmajit::Move& move) {
  return Expression::parse(std::get<tmajit::Map>(move.body).expression, number_names(move));
}

/// Calls visit(index, value) for each element of a part.
template <class Visit>
void map_each(const tmajit::Move& move, const Part& part, const Visit& visit) {
  const Expression expression = map_expression(move).value();
  const std::uint32_t rank = move.destination.view.rank;
  std::vector<Computed> x(move.sources.size());
  for_each_index(rank, part, [&](const Index& index) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const tmajit::Tensor& source = move.sources[i];
      x[i] = decode(source.view.type, element_at(source, offset_of(source.view, index)));
    }
    visit(index, expression.evaluate(x, std::span(index).first(rank)));
  });
}

constexpr OperationReference map_reference{
    .compute =
        [](const tmajit::Move& move, const Part& part) {
          const tmajit::Tensor& to = move.destination;
          map_each(move, part, [&](const Index& index, const Computed& value) {
            encode(to.view.type, value.value, element_at(to, offset_of(to.view, index)));
          });
        },
    .understands =
        [](const tmajit::Move& move) {
          const auto expression = map_expression(move);
          return expression && expression->offsets() == 0;
        },
    .makes_values = computes,
    .allowed_errors =
        [](const tmajit::Move& move, const Part& part) {
          std::vector<double> errors;
          if (map_expression(move)->is_exact()) return errors;
          map_each(move, part, [&](const Index& /*index*/, const Computed& value) {
            errors.push_back(stored_error(move.destination.view.type, value));
          });
          return errors;
        }};

}  // namespace

const OperationReference& reference_of(const tmajit::Map& /*map*/) noexcept {
  return map_reference;
}

}  // namespace reference
