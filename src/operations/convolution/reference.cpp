#include "operations/references.hpp"
#include "operations/shared/windows_reference.hpp"

namespace reference {
namespace {

constexpr OperationReference convolution_reference{.compute = [](const tmajit::Move& move) {
  convolution(move.destination, move.sources[0], move.sources[1],
              std::get<tmajit::Convolution>(move.body).windows);
}};

}  // namespace

const OperationReference& reference_of(const tmajit::Convolution& /*convolution*/) noexcept {
  return convolution_reference;
}

}  // namespace reference
