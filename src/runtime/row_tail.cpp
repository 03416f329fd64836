#include "runtime/row_tail.hpp"

#include <cstring>

TMAJIT_BEGIN

RowTail::RowTail(TensorMapSpec& map, DevicePtr address) noexcept {
  constexpr std::uint64_t chunk_bytes = 16;  // what the copy engine stores at least (docs/tma.md)
  const std::uint32_t inner = map.rank - 1U;
  const std::uint64_t chunk = chunk_bytes / size_of(map.type);
  const std::uint64_t columns = map.shape[inner];
  const std::uint64_t whole = columns / chunk * chunk;

  std::array<std::uint32_t, max_map_rank + 1> extents{};
  words_[0] = address;
  for (std::uint32_t d = 0; d < map.rank; ++d) {
    words_[1 + d] = map.strides[d];
    extents[d] = static_cast<std::uint32_t>(map.shape[d]);  // at most 2^31, which the validator sees to
  }
  extents[map.rank] = static_cast<std::uint32_t>(whole);
  std::memcpy(&words_[1U + map.rank], extents.data(), (map.rank + 1U) * sizeof(std::uint32_t));
  if (whole != columns) map.shape[inner] = whole == 0 ? chunk : whole;
}

TMAJIT_END
