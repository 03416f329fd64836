#include "operations/references.hpp"
#include "operations/shared/windows_reference.hpp"

#include <algorithm>

namespace reference {
namespace {

constexpr OperationReference convolution_reference{
    .compute =
        [](const tmajit::Move& move, const Part& part) {
          convolution(move.destination, move.sources[0], move.sources[1],
                      std::get<tmajit::Convolution>(move.body).windows, part);
        },
    .reads =
        [](const tmajit::Move& move, const Part& part) {
          const tmajit::TensorView& filter = move.sources[1].view;
          const std::uint64_t products = element_count(filter) / std::max<std::uint64_t>(filter.shape[0], 1);
          return 2 * products * element_count(part, move.destination.view.rank);
        }};

}  // namespace

const OperationReference& reference_of(const tmajit::Convolution& /*convolution*/) noexcept {
  return convolution_reference;
}

}  // namespace reference
