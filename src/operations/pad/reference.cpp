#include "operations/references.hpp"
#include "reference/scalar.hpp"
#include "reference/walk.hpp"

#include <array>
#include <cmath>
#include <cstring>

namespace reference {
namespace {

/// Writes the source's elements where the destination has them, and the padding's value elsewhere.
void pad(const tmajit::Move& move, const Part& part) {
  const auto& padding = std::get<tmajit::Padding>(move.body);
  const tmajit::Tensor& to = move.destination;
  const tmajit::Tensor& from = move.sources.front();
  const std::uint32_t size = size_of(to.view.type);
  std::array<std::byte, sizeof(std::uint64_t)> value{};
  encode(to.view.type, scalar(padding.value), value.data());
  for_each_index(to.view.rank, part, [&](const Index& index) {
    Index at = index;
    bool inside = true;
    for (std::uint32_t d = 0; d < to.view.rank; ++d) {
      // An index before the source wraps to a large one, which is out of range as well.
      at.at(d) -= static_cast<std::uint64_t>(padding.before[d]);
      inside = inside && at.at(d) < from.view.shape.at(d);
    }
    const std::byte* const found = inside ? element_at(from, offset_of(from.view, at)) : value.data();
    std::memcpy(element_at(to, offset_of(to.view, index)), found, size);
  });
}

constexpr OperationReference pad_reference{.compute = pad, .makes_values = [](const tmajit::Move& move) {
                                             // A NaN is converted to the element type: kernels may write a
                                             // NaN of other bits.
                                             return std::isnan(std::get<tmajit::Padding>(move.body).value);
                                           }};

}  // namespace

const OperationReference& reference_of(const tmajit::Padding& /*padding*/) noexcept {
  return pad_reference;
}

}  // namespace reference
