#include "operations/references.hpp"
#include "reference/scalar.hpp"
#include "reference/walk.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace reference {
namespace {

/// Fills the destination with the value, then copies the part of it that the source reaches.
void pad(const tmajit::Move& move) {
  const auto& padding = std::get<tmajit::Padding>(move.body);
  tmajit::Tensor to = move.destination;
  tmajit::Tensor from = move.sources.front();
  const std::uint32_t size = size_of(to.view.type);
  std::array<std::byte, sizeof(std::uint64_t)> value{};
  encode(to.view.type, scalar(padding.value), value.data());
  for_each_pair(to, to,
                [&](std::byte* element, const std::byte*) { std::memcpy(element, value.data(), size); });
  for (std::uint32_t d = 0; d < to.view.rank; ++d) {
    const std::int64_t before = padding.before[d];
    const std::int64_t begin = std::max<std::int64_t>(before, 0);
    const std::int64_t end = std::min(static_cast<std::int64_t>(to.view.shape[d]),
                                      before + static_cast<std::int64_t>(from.view.shape[d]));
    if (begin >= end) return;
    to.view.shape[d] = static_cast<std::uint64_t>(end - begin);
    to.address += static_cast<tmajit::DevicePtr>(begin * to.view.strides[d] * size);
    from.address += static_cast<tmajit::DevicePtr>((begin - before) * from.view.strides[d] * size);
  }
  for_each_pair(to, from,
                [&](std::byte* element, const std::byte* found) { std::memcpy(element, found, size); });
}

constexpr OperationReference pad_reference{.compute = pad};

}  // namespace

const OperationReference& reference_of(const tmajit::Padding& /*padding*/) noexcept {
  return pad_reference;
}

}  // namespace reference
