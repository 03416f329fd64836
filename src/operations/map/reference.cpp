#include "operations/references.hpp"
#include "reference/scalar.hpp"
#include "reference/walk.hpp"

namespace reference {
namespace {

bool is_conversion(const tmajit::Move& move) {
  return move.sources.size() == 1 && is_identity(std::get<tmajit::Map>(move.body).expression);
}

/// Converts each value to the destination's type. Expressions but "x" are not evaluated.
void convert(const tmajit::Move& move) {
  const tmajit::ElementType to = move.destination.view.type;
  const tmajit::ElementType from = move.sources.front().view.type;
  for_each_pair(move.destination, move.sources.front(), [&](std::byte* element, const std::byte* value) {
    encode(to, decode(from, value), element);
  });
}

constexpr OperationReference map_reference{
    .compute = convert, .understands = is_conversion, .rounding = [](const tmajit::Move& /*move*/) {
      return Rounding::once;
    }};

}  // namespace

const OperationReference& reference_of(const tmajit::Map& /*map*/) noexcept {
  return map_reference;
}

}  // namespace reference
