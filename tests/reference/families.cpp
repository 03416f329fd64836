#include "reference/families.hpp"

#include "operations/reduce_into/reference.hpp"
#include "reference/copy_engine.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace reference {

using tmajit::ElementType;
using tmajit::TensorMapSpec;
using tmajit::TensorView;

namespace {

std::uint64_t byte_offset(const TensorView& view, std::span<const std::uint64_t> index) {
  std::uint64_t elements = 0;
  for (std::uint32_t d = 0; d < view.rank; ++d)
    elements += index[d] * static_cast<std::uint64_t>(view.strides[d]);
  return elements * size_of(view.type);
}

std::uint64_t span_of(const TensorView& view) {
  std::vector<std::uint64_t> last;
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    if (view.shape[d] == 0) return 0;
    last.push_back(view.shape[d] - 1);
  }
  return byte_offset(view, last) + size_of(view.type);
}

/// Calls visit(index) for every index of `shape`, row-major; nothing for an empty shape.
template <typename Visit>
void for_each_index(std::span<const std::uint64_t> shape, const Visit& visit) {
  if (std::ranges::find(shape, 0U) != shape.end()) return;
  std::vector<std::uint64_t> index(shape.size());
  for (;;) {
    visit(std::span<const std::uint64_t>(index));
    auto d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

std::span<const std::uint64_t> shape_of(const TensorView& view) {
  return std::span(view.shape).first(view.rank);
}

/// The input element from which the output's element at `index` is computed, as a tensor load delivers it.
std::array<std::byte, 8> loaded(const Tiling& tiling, const Tensor& input,
                                std::span<const std::uint64_t> index) {
  std::vector<std::uint64_t> at(index.begin(), index.end());
  for (std::size_t d = 0; d < at.size(); ++d) at[d] *= tiling.element_stride(d);
  std::array<std::byte, 8> element{};
  std::memcpy(element.data(), input.at(at), size_of(input.view.type));
  convert_on_load(input.view.type, element.data());
  return element;
}

Element element_at(const Tiling& tiling, std::span<const std::uint64_t> index) {
  Element element;
  for (std::size_t d = 0; d < index.size(); ++d) {
    element.g.at(d) = index[d];
    element.t.at(d) = static_cast<std::uint32_t>(index[d] % tiling.tile.at(d));
    element.tile_index = element.tile_index * tiling.tile.at(d) + element.t.at(d);
  }
  return element;
}

TensorMapSpec map_of(const Tiling& tiling, const TensorView& view) {
  TensorMapSpec map{.type = view.type,
                    .rank = static_cast<std::uint8_t>(view.rank),
                    .interleave = tiling.interleave,
                    .swizzle = tiling.swizzle,
                    .oob_fill = tiling.oob_fill};
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    map.shape.at(d) = view.shape[d];
    map.strides.at(d) = static_cast<std::uint64_t>(view.strides[d]) * size_of(view.type);
    map.element_strides.at(d) = tiling.element_stride(d);
    map.box.at(d) = tiling.tile.at(d) * tiling.element_stride(d);
  }
  return map;
}

}  // namespace

Tensor::Tensor(const TensorView& v, std::byte fill) : view(v), bytes(span_of(v), fill) {}

std::byte* Tensor::at(std::span<const std::uint64_t> index) {
  return bytes.data() + byte_offset(view, index);
}
const std::byte* Tensor::at(std::span<const std::uint64_t> index) const {
  return bytes.data() + byte_offset(view, index);
}

void copy(const Tiling& tiling, Tensor& output, const Tensor& source) {
  for_each_index(shape_of(output.view), [&](std::span<const std::uint64_t> index) {
    const auto element = loaded(tiling, source, index);
    std::memcpy(output.at(index), element.data(), size_of(output.view.type));
  });
}

void reduce_into(const Tiling& tiling, tmajit::CombineOp op, Tensor& output, const Tensor& source) {
  for_each_index(shape_of(output.view), [&](std::span<const std::uint64_t> index) {
    std::vector<std::uint64_t> at(index.begin(), index.end());
    for (std::size_t d = 0; d < at.size(); ++d) at[d] *= tiling.element_stride(d);
    combine(op, output.view.type, output.at(index), source.at(at));
  });
}

void map(const Tiling& tiling, Tensor& output, std::span<const Tensor> inputs, const Function& f) {
  std::vector<Scalar> x(inputs.size());
  for_each_index(shape_of(output.view), [&](std::span<const std::uint64_t> index) {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      x[i] = decode(inputs[i].view.type, loaded(tiling, inputs[i], index).data());
    }
    encode(output.view.type, f(x, element_at(tiling, index)), output.at(index));
  });
}

void bulk(const Tiling& tiling, Tensor& output, const Tensor& input, const Function& f) {
  // Bulk copies move bytes: there is no tensor map that would convert elements.
  for_each_index(shape_of(output.view), [&](std::span<const std::uint64_t> index) {
    const Scalar x = decode(input.view.type, input.at(index));
    encode(output.view.type, f({&x, 1}, element_at(tiling, index)), output.at(index));
  });
}

Tensor snapshot(const Tiling& tiling, const Tensor& source, std::byte poison) {
  const auto tensor_map = map_of(tiling, source.view);
  std::vector<std::uint64_t> grid(source.view.rank);
  std::uint64_t tiles = 1;
  for (std::uint32_t d = 0; d < source.view.rank; ++d) {
    grid[d] = (source.view.shape[d] + tensor_map.box[d] - 1) / tensor_map.box[d];
    tiles *= grid[d];
  }
  const std::array shape{tiles, image_bytes(tensor_map)};
  Tensor images(TensorView{.type = ElementType::u8,
                           .rank = 2,
                           .shape = {shape[0], shape[1]},
                           .strides = {static_cast<std::int64_t>(shape[1]), 1}},
                poison);
  std::size_t tile = 0;
  for_each_index(grid, [&](std::span<const std::uint64_t> index) {
    std::vector<std::int64_t> coordinates(source.view.rank);
    for (std::uint32_t d = 0; d < source.view.rank; ++d) {
      coordinates[d] = static_cast<std::int64_t>(index[d] * tensor_map.box[d]);
    }
    const auto image = std::span(images.bytes).subspan(tile++ * shape[1], shape[1]);
    load(tensor_map, source.bytes, coordinates, image);
  });
  return images;
}

bool first_difference(const Tensor& a, const Tensor& b, std::vector<std::uint64_t>& index) {
  if (a.view.type != b.view.type || !std::ranges::equal(shape_of(a.view), shape_of(b.view))) {
    throw std::invalid_argument("reference: tensors of different type or shape");
  }
  bool found = false;
  for_each_index(shape_of(a.view), [&](std::span<const std::uint64_t> at) {
    if (found || same_value(a.view.type, a.at(at), b.at(at))) return;
    index.assign(at.begin(), at.end());
    found = true;
  });
  return found;
}

}  // namespace reference
