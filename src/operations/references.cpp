#include "operations/references.hpp"

#include "reference/scalar.hpp"

#include <cmath>
#include <cstring>
#include <variant>

namespace reference {
namespace {

const OperationReference& reference_of_move(const tmajit::Move& move) {
  return std::visit([](const auto& body) -> const OperationReference& { return reference_of(body); },
                    move.body);
}

}  // namespace

bool understands(const tmajit::Move& move) {
  const OperationReference& reference = reference_of_move(move);
  return reference.understands == nullptr || reference.understands(move);
}

void compute(const tmajit::Move& move) {
  compute(move, whole(move.destination.view));
}

void compute(const tmajit::Move& move, const Part& part) {
  reference_of_move(move).compute(move, part);
}

bool makes_values(const tmajit::Move& move) {
  const OperationReference& reference = reference_of_move(move);
  return reference.makes_values != nullptr && reference.makes_values(move);
}

std::vector<double> allowed_errors(const tmajit::Move& move, const Part& part) {
  const OperationReference& reference = reference_of_move(move);
  return reference.allowed_errors == nullptr ? std::vector<double>() : reference.allowed_errors(move, part);
}

std::uint64_t reads_of(const tmajit::Move& move, const Part& part) {
  const OperationReference& reference = reference_of_move(move);
  if (reference.reads != nullptr) return reference.reads(move, part);
  return move.sources.size() * element_count(part, move.destination.view.rank);
}

bool is_right(tmajit::ElementType type, bool makes_values, double allowed_error, const std::byte* wanted,
              const std::byte* found) {
  if (std::memcmp(wanted, found, size_of(type)) == 0) return true;
  if (!makes_values) return false;
  if (same_value(type, wanted, found)) return true;
  return allowed_error > 0 &&
         std::fabs(as_double(decode(type, wanted)) - as_double(decode(type, found))) <= allowed_error;
}

bool is_identity(const std::string& expression) {
  return expression.empty() || expression == "x";
}

}  // namespace reference
