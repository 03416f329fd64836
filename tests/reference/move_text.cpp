#include "reference/random_moves.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <sstream>

namespace reference {

using namespace tmajit;

namespace {

constexpr std::array type_names{"u8",   "i8",  "u16",     "i16", "u32",  "i32",      "u64",  "i64", "f16",
                                "bf16", "f32", "f32_ftz", "f64", "tf32", "tf32_ftz", "e4m3", "e5m2"};
static_assert(type_names.size() == all_element_types.size());

template <typename Values>
void print(std::ostream& out, const Values& values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out << (i == 0 ? "" : ",") << values[i];
}

void print(std::ostream& out, const BufferView& tensor) {
  out << type_names[static_cast<std::size_t>(tensor.view.type)] << '[';
  print(out, tensor.view.shape, tensor.view.rank);
  out << "] strides (";
  print(out, tensor.view.strides, tensor.view.rank);
  out << ") at byte " << tensor.offset << " of buffer " << tensor.buffer;
}

void print(std::ostream& out, const Slice& slice) {
  if (slice.start) out << *slice.start;
  out << ':';
  if (slice.stop) out << *slice.stop;
  out << ':' << slice.step;
}

/// Replaces found NaNs of a destination by the expected ones.
void forgive_nans(const BufferView& tensor, const std::vector<std::byte>& expected,
                  std::vector<std::byte>& found) {
  const TensorView& view = tensor.view;
  if (!is_float(view.type)) return;
  std::array<std::uint64_t, max_view_rank> index{};
  if (std::find(view.shape.begin(), view.shape.begin() + view.rank, 0U) != view.shape.begin() + view.rank)
    return;
  const std::size_t size = size_of(view.type);
  for (;;) {
    std::int64_t elements = 0;
    for (std::uint32_t d = 0; d < view.rank; ++d) {
      elements += static_cast<std::int64_t>(index[d]) * view.strides[d];
    }
    const auto at = tensor.offset + static_cast<std::uint64_t>(elements) * size;
    if (same_value(view.type, &expected[at], &found[at])) std::memcpy(&found[at], &expected[at], size);
    std::uint32_t d = view.rank;
    while (d > 0 && ++index[d - 1] == view.shape[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

std::string hex(const std::byte* bytes, std::size_t count) {
  constexpr auto digits = "0123456789abcdef";
  std::string text = "0x";
  for (std::size_t i = count; i-- > 0;) {
    text += digits[std::to_integer<unsigned>(bytes[i]) >> 4];
    text += digits[std::to_integer<unsigned>(bytes[i]) & 15];
  }
  return text;
}

}  // namespace

const char* name(MoveKind kind) noexcept {
  constexpr std::array names{"copy", "permute", "flip", "slice", "pad", "concat", "split", "cast", "map"};
  return names[static_cast<std::size_t>(kind)];
}

std::string describe(const RandomMove& move) {
  std::ostringstream out;
  out << name(move.kind);
  switch (move.kind) {
    case MoveKind::permute: print(out << " axes ", move.axes, move.axes.size()); break;
    case MoveKind::flip:
    case MoveKind::concat:
    case MoveKind::split: out << " axis " << move.axis; break;
    case MoveKind::slice:
      for (std::size_t d = 0; d < move.slices.size(); ++d) print(out << (d == 0 ? ' ' : ','), move.slices[d]);
      break;
    case MoveKind::pad:
      print(out << " before ", move.before, move.before.size());
      out << " value " << move.value;
      break;
    case MoveKind::map: out << " \"" << move.expression << '"'; break;
    default: break;
  }
  for (const BufferView& tensor : move.destinations) print(out << "; to ", tensor);
  for (const BufferView& tensor : move.sources) print(out << "; from ", tensor);
  return out.str();
}

std::string difference(const RandomMove& move, const Buffers& expected, Buffers found) {
  const bool converts =
      move.kind == MoveKind::cast || move.kind == MoveKind::map || move.kind == MoveKind::pad;
  if (converts) {
    const BufferView& to = move.destinations[0];
    if (found[to.buffer] != expected[to.buffer]) forgive_nans(to, expected[to.buffer], found[to.buffer]);
  }
  for (std::size_t b = 0; b < expected.size(); ++b) {
    if (expected[b] == found[b]) continue;
    const auto wrong = [&](std::size_t i) { return expected[b][i] != found[b][i]; };
    std::size_t first = 0;
    while (!wrong(first)) ++first;
    std::size_t count = 0;
    for (std::size_t i = first; i < expected[b].size(); ++i) count += wrong(i) ? 1 : 0;
    std::size_t size = 1;
    bool source = true;
    for (const BufferView& tensor : move.destinations) {
      if (tensor.buffer != b) continue;
      source = false;
      size = size_of(tensor.view.type);
      first -= (first + size - tensor.offset % size) % size;
    }
    size = std::min(size, expected[b].size() - first);
    std::ostringstream out;
    out << count << " bytes of buffer " << b << (source ? ", which holds no destination," : "")
        << " differ; the first element at byte " << first << " is " << hex(&found[b][first], size)
        << " instead of " << hex(&expected[b][first], size);
    return out.str();
  }
  return {};
}

}  // namespace reference
