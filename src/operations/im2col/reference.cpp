#include "operations/references.hpp"
#include "operations/shared/windows_reference.hpp"

namespace reference {
namespace {

constexpr OperationReference im2col_reference{.compute = [](const tmajit::Move& move, const Part& part) {
  im2col(move.destination, move.sources.front(), std::get<tmajit::Im2col>(move.body).windows, part);
}};

}  // namespace

const OperationReference& reference_of(const tmajit::Im2col& /*im2col*/) noexcept {
  return im2col_reference;
}

}  // namespace reference
