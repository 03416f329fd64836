#include "operations/references.hpp"

#include "reference/closeness.hpp"
#include "reference/scalar.hpp"

#include <cmath>
#include <cstring>
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
  compute(move, whole(move.destination.view));
}

void compute(const tmajit::Move& move, const Part& part) {
  of(move).compute(move, part);
}

Rounding rounding_of(const tmajit::Move& move) {
  const OperationReference& reference = of(move);
  return reference.rounding == nullptr ? Rounding::never : reference.rounding(move);
}

std::vector<double> allowed_errors(const tmajit::Move& move, const Part& part) {
  const OperationReference& reference = of(move);
  return reference.allowed_errors == nullptr ? std::vector<double>() : reference.allowed_errors(move, part);
}

std::uint64_t reads_of(const tmajit::Move& move, const Part& part) {
  const OperationReference& reference = of(move);
  if (reference.reads != nullptr) return reference.reads(move, part);
  return move.sources.size() * element_count(part, move.destination.view.rank);
}

namespace {

/// The relative error of rounding a number to the type.
double relative_rounding(tmajit::ElementType type) {
  switch (type) {
    case tmajit::ElementType::f64: return 0x1p-51;
    case tmajit::ElementType::f16:
    case tmajit::ElementType::tf32:
    case tmajit::ElementType::tf32_ftz: return 0x1p-10;
    case tmajit::ElementType::bf16: return 0x1p-7;
    case tmajit::ElementType::e4m3: return 0x1p-3;
    case tmajit::ElementType::e5m2: return 0x1p-2;
    default: return 0x1p-22;
  }
}

bool is_near(tmajit::ElementType type, const std::byte* want, const std::byte* got, double allowed) {
  const double wanted = as_double(decode(type, want));
  const double found = as_double(decode(type, got));
  return std::fabs(wanted - found) <= allowed + relative_rounding(type) * std::fabs(wanted);
}

}  // namespace

bool is_right(tmajit::ElementType type, Rounding rounding, std::optional<double> allowed_error,
              const std::byte* wanted, const std::byte* found) {
  if (std::memcmp(wanted, found, size_of(type)) == 0) return true;
  if (allowed_error && is_near(type, wanted, found, *allowed_error)) return true;
  switch (rounding) {
    case Rounding::never: return false;
    case Rounding::once: return same_value(type, wanted, found);
    case Rounding::in_f32:
    case Rounding::in_f64: return is_close(type, rounding == Rounding::in_f32, wanted, found);
  }
  return false;
}

bool is_identity(const std::string& expression) {
  return expression.empty() || expression == "x";
}

}  // namespace reference
