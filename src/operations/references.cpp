#include "operations/references.hpp"

#include <variant>

namespace reference {
namespace {

const OperationReference& of(const tmajit::Move& move) {
  return std::visit([](const auto& body) -> const OperationReference& { return reference_of(body); },
                    move.body);
}

}  // namespace

bool understands(const tmajit::Move& move) {
  const OperationReference& reference = of(move);
  return reference.understands == nullptr || reference.understands(move);
}

void compute(const tmajit::Move& move) {
  of(move).compute(move);
}

Rounding rounding_of(const tmajit::Move& move) {
  const OperationReference& reference = of(move);
  return reference.rounding == nullptr ? Rounding::never : reference.rounding(move);
}

std::vector<double> allowed_errors(const tmajit::Move& move) {
  const OperationReference& reference = of(move);
  return reference.allowed_errors == nullptr ? std::vector<double>() : reference.allowed_errors(move);
}

bool is_identity(const std::string& expression) {
  return expression.empty() || expression == "x";
}

}  // namespace reference
