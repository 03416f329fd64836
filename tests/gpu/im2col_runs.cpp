#include "gpu/im2col_runs.hpp"

#include "reference/copy_engine.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>
#include <tmajit/runtime.hpp>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include <spdlog/fmt/ranges.h>

namespace gpu {

using namespace tmajit;
using reference::between;
using reference::one_in;
using reference::one_of;
using reference::Random;

namespace {

constexpr std::uint32_t most_pixels = 200;
constexpr std::uint32_t threads = 128;

std::int64_t signed_between(Random& random, std::int64_t least, std::int64_t most) {
  return least + static_cast<std::int64_t>(between(random, 0, static_cast<std::uint64_t>(most - least)));
}

/// Bytes of an element of the innermost dimension: a channel, or with an interleaved layout a slice of them.
std::uint32_t inner_bytes(const TensorMapSpec& map) {
  return map.interleave == Interleave::none ? size_of(map.type) : map.interleave == Interleave::b16 ? 16 : 32;
}

/// The slices of an interleaved image, and which of them a copy moves.
void choose_slices(Random& random, Im2colCase& c, const PixelFeatures& features) {
  c.map.shape[1] = between(random, 1, 4);
  const auto last = static_cast<std::int64_t>(c.map.shape[1]) - (features.channels ? 0 : 1);
  c.at[1] = signed_between(random, features.channels && c.copy == PixelCopy::load ? -1 : 0, last);
}

void choose_channels(Random& random, Im2colCase& c, const PixelFeatures& features) {
  TensorMapSpec& map = c.map;
  const std::uint32_t unit = 16 / size_of(map.type);
  const bool limited = map.swizzle != Swizzle::none && map.interleave == Interleave::none;
  const std::uint32_t most = limited ? span_bytes(map.swizzle) / size_of(map.type) : 16 * unit;
  map.pixel_box.channels = unit * static_cast<std::uint32_t>(between(random, 1, std::min(most, 64U) / unit));
  if (map.interleave != Interleave::none) return choose_slices(random, c, features);
  std::uint64_t channels = map.pixel_box.channels;
  if (features.channels) channels = between(random, 1, 2 * channels);
  // Whether reductions write whole chunks past a row's end is another question.
  if (c.copy == PixelCopy::add) channels = (channels + unit - 1) / unit * unit;
  const std::uint32_t inner = map.rank - 1U;
  map.shape[inner] = channels;
  if (!features.channels) return;
  const std::int64_t step = unit;
  const std::int64_t beyond = static_cast<std::int64_t>(channels) / step + 1;
  c.at[inner] =
      step * (one_in(random, 2) ? 0 : signed_between(random, c.copy == PixelCopy::load ? -1 : 0, beyond));
}

/// Corners in a dimension of the image that leave a place there.
void choose_corners(Random& random, Im2colCase& c, const PixelFeatures& features, std::uint32_t i) {
  TensorMapSpec& map = c.map;
  const bool inside = c.copy != PixelCopy::load && !features.outside;
  const auto extent = static_cast<std::int64_t>(map.shape[first_image_dimension(map.interleave) + i]);
  const bool apart = features.corners || features.outside;
  const std::int64_t lower = apart ? signed_between(random, inside ? 0 : -4, 3) : inside ? 0 : -1;
  const std::int64_t upper = apart ? signed_between(random, -5, 4) : -1;
  map.pixel_box.lower[i] = static_cast<std::int32_t>(lower);
  map.pixel_box.upper[i] = static_cast<std::int32_t>(std::max(upper, lower - extent + 1));
}

void choose_image(Random& random, Im2colCase& c, const PixelFeatures& features) {
  TensorMapSpec& map = c.map;
  constexpr std::array<std::uint64_t, 3> most_extents{40, 9, 5};
  const bool store = c.copy != PixelCopy::load;
  std::uint64_t places = 1;
  const std::uint32_t first = first_image_dimension(map.interleave);
  for (std::uint32_t i = 0; i + 2U < map.rank; ++i)
    map.shape[first + i] = between(random, 1, most_extents.at(map.rank - 3U));
  for (std::uint32_t i = 0; i + 2U < map.rank; ++i) {
    choose_corners(random, c, features, i);
    const std::uint32_t d = first + i;
    const std::int64_t lower = map.pixel_box.lower[i];
    if (features.strides && one_in(random, 2))
      map.element_strides[d] = static_cast<std::uint32_t>(between(random, 1, 4));
    const std::int64_t last = static_cast<std::int64_t>(map.shape[d]) - 1 + map.pixel_box.upper[i];
    c.at[d] = signed_between(random, lower, last);
    if (!features.between || one_in(random, 2))
      c.at[d] = lower + (c.at[d] - lower) / map.element_strides[d] * map.element_strides[d];
    if (one_in(random, 3)) c.at[d] = lower;
    // A tap of a dilated filter.
    if (!store && features.offsets)
      c.offsets[i] = static_cast<std::int64_t>(between(random, 0, 3) * between(random, 1, 4));
    places *= static_cast<std::uint64_t>((last - lower) / map.element_strides[d] + 1);
  }
  map.shape[0] = between(random, 1, 3);
  places *= map.shape[0];
  const auto last = static_cast<std::int64_t>(map.shape[0]) - (features.images ? 0 : 1);
  c.at[0] = one_in(random, 2) ? 0 : signed_between(random, 0, last);
  map.pixel_box.pixels =
      static_cast<std::uint32_t>(between(random, 1, std::min<std::uint64_t>(places + 5, most_pixels)));
}

void choose_strides(Random& random, TensorMapSpec& map, bool padding) {
  const std::uint64_t unit = map.interleave == Interleave::b32 ? 32 : 16;
  const std::uint32_t inner = map.rank - 1U;
  map.strides[inner] = inner_bytes(map);
  std::uint64_t stride = map.shape[inner] * map.strides[inner];
  for (auto d = inner; d-- > 0;) {
    stride =
        (stride + unit - 1) / unit * unit + (padding && one_in(random, 3) ? unit * between(random, 0, 2) : 0);
    map.strides[d] = stride;
    stride *= map.shape[d];
  }
}

constexpr const char* names[] = {"load", "store", "add"};

std::string text_of(PixelCopy copy, std::uint32_t rank) {
  return fmt::format(R"(
#include "tmajit/barrier.cuh"
#include "tmajit/bulk_group.cuh"
#include "tmajit/bulk_tensor_reduce.cuh"
#include "tmajit/fence.cuh"
#include "tmajit/im2col.cuh"
#include "tmajit/shared_memory.cuh"
using namespace tmajit;

// Numbers: bytes of the tile's memory and of a load, coordinates and offsets, innermost dimension first, whether
// a load comes after a prefetch.
extern "C" __global__ void __launch_bounds__({0}) k0(u32* image, const i32* numbers, const __grid_constant__ TensorMap map) {{
  __shared__ u64 word;
  u32* const words = reinterpret_cast<u32*>(aligned_shared_memory());
  const u32 tile = ptx::shared_address(words), count = numbers[0] / 4;
  Coordinates<{1}> at;
  for (u32 d = 0; d < {1}; ++d) at.at[d] = numbers[2 + d];
  for (u32 i = threadIdx.x; i < count; i += {0}) words[i] = image[i];
  const auto arrived = Barrier<>(word).init(1, threadIdx.x == 0);
  ptx::fence_proxy_async_shared();
  __syncthreads();
#if {2} == 0
  if (threadIdx.x == 0) {{
    TapOffsets<{3}> tap;
    for (u32 d = 0; d < {3}; ++d) tap.at[d] = static_cast<u16>(numbers[2 + {1} + d]);
    if (numbers[2 + {1} + {3}] != 0) ptx::im2col_prefetch(map, at, tap);
    if (numbers[1] != 0) arrived.expect(numbers[1]);
    ptx::im2col_load(tile, map, at, tap, arrived.address());
  }}
  if (numbers[1] != 0) {{
    arrived.wait(0u);
  }} else {{
    for (u32 i = 0; i < 1000; ++i) __nanosleep(1000);
    __syncthreads();
  }}
  for (u32 i = threadIdx.x; i < count; i += {0}) image[i] = words[i];
#else
  if (threadIdx.x == 0) {{
#if {2} == 1
    ptx::im2col_store(map, at, tile);
#else
    ptx::im2col_reduce_add(map, at, tile);
#endif
    ptx::commit_group();
    ptx::wait_group<0>();
  }}
#endif
}}
)",
                     threads, rank, static_cast<int>(copy), rank - 2);
}

std::vector<std::byte> random_bytes(Random& random, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(between(random, 0, 255));
  return bytes;
}

/// What was in `before` plus what a store has put into `after`, which began as zeros, by words.
void add_words(std::vector<std::byte>& before, const std::vector<std::byte>& added) {
  for (std::size_t i = 0; i + 4 <= before.size(); i += 4) {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    std::memcpy(&a, before.data() + i, 4);
    std::memcpy(&b, added.data() + i, 4);
    a += b;
    std::memcpy(before.data() + i, &a, 4);
  }
}

Buffer uploaded(const std::shared_ptr<Device>& device, std::span<const std::byte> bytes) {
  Buffer buffer(device, bytes.size());
  device->memory().copy_in(buffer.address(), bytes, nullptr);
  device->streams().synchronize(nullptr);
  return buffer;
}

std::string compare(std::string_view what, std::span<const std::byte> found,
                    std::span<const std::byte> want) {
  std::size_t wrong = 0;
  std::size_t first = found.size();
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == want[i]) continue;
    if (wrong++ == 0) first = i;
  }
  if (wrong == 0) return {};
  return fmt::format("{} of {} bytes of the {} differ; the first is byte {}: {:#x}, not {:#x}. ", wrong,
                     found.size(), what, first, static_cast<unsigned>(found[first]),
                     static_cast<unsigned>(want[first]));
}

/// Where byte `at` of the tensor lies: "[0, 3, 2] + 16".
std::string place_of(const TensorMapSpec& map, std::size_t at) {
  std::vector<std::size_t> place;
  for (std::uint32_t d = 0; d + 1U < map.rank; ++d) {
    place.push_back(at / map.strides.at(d));
    at %= map.strides.at(d);
  }
  return fmt::format("[{}] + {}", fmt::join(place, ", "), at);
}

/// What a store has left in the first chunks of 16 bytes that differ: bytes of the tile, or what was there.
std::string stored(const TensorMapSpec& map, std::span<const std::byte> found,
                   std::span<const std::byte> want, std::span<const std::byte> before,
                   std::span<const std::byte> tile) {
  constexpr std::size_t chunk = 16;
  const auto origin = [&](std::span<const std::byte> bytes, std::size_t at) -> std::string {
    const auto here = bytes.subspan(at, chunk);
    if (std::ranges::equal(here, before.subspan(at, chunk))) return "what was there";
    for (std::size_t i = 0; i < tile.size(); i += chunk)
      if (std::ranges::equal(here, tile.subspan(i, chunk))) return fmt::format("byte {} of the tile", i);
    return "other bytes";
  };
  std::string text;
  std::size_t lines = 0;
  for (std::size_t at = 0; at + chunk <= found.size() && lines < 12; at += chunk) {
    if (std::ranges::equal(found.subspan(at, chunk), want.subspan(at, chunk))) continue;
    ++lines;
    text += fmt::format("\n    {}: {}, not {}", place_of(map, at), origin(found, at), origin(want, at));
  }
  return text;
}

/// A tensor whose words count its chunks of 16 bytes from 1.
std::vector<std::uint32_t> numbered_chunks(const TensorMapSpec& map) {
  std::vector<std::uint32_t> tensor(map.shape[0] * map.strides[0] / 4);
  for (std::size_t i = 0; i < tensor.size(); ++i) tensor[i] = static_cast<std::uint32_t>(i / 4 + 1);
  return tensor;
}

/// The first word of each 16 bytes.
std::vector<std::uint32_t> first_words(const std::vector<std::uint32_t>& image) {
  std::vector<std::uint32_t> found;
  for (std::size_t i = 0; i < image.size(); i += 4) found.push_back(image[i]);
  return found;
}

std::vector<std::uint32_t> untouched_image() {
  return std::vector<std::uint32_t>(32768 / 4, Im2colRuns::untouched);
}

/// All but stores to outside of the image.
PixelFeatures all_pixel_features(bool interleaved) {
  return {.channels = true,
          .images = true,
          .padding = true,
          .prefetch = true,
          .moved = true,
          .strides = true,
          .between = true,
          .corners = true,
          .offsets = true,
          .types = true,
          .swizzles = true,
          .interleaved = interleaved};
}

}  // namespace

std::vector<PixelCopies> pixel_copies() {
  using enum PixelCopy;
  const auto stored = all_pixel_features(false);
  return {
      {"load: plain", load, {}},
      {"load: offsets", load, {.offsets = true}},
      {"load: traversal strides", load, {.strides = true}},
      {"load: places between strides", load, {.strides = true, .between = true}},
      {"load: corners", load, {.corners = true}},
      {"load: corners and offsets", load, {.corners = true, .offsets = true}},
      {"load: padding", load, {.padding = true}},
      {"load: channels", load, {.channels = true}},
      {"load: images", load, {.images = true}},
      {"load: types", load, {.types = true}},
      {"load: moved maps", load, {.moved = true}},
      {"load: prefetch", load, {.prefetch = true}},
      {"load: swizzles", load, {.swizzles = true}},
      {"load: all", load, all_pixel_features(false)},
      {"store: plain", store, {}},
      {"store: traversal strides", store, {.strides = true}},
      {"store: corners", store, {.corners = true}},
      {"store: channels", store, {.channels = true}},
      {"store: images", store, {.images = true}},
      {"store: swizzles", store, {.swizzles = true}},
      {"store: all", store, stored},
      {"store: outside of the image", store, {.outside = true}},
      {"add: plain", add, {}},
      {"add: all", add, stored},
      {"interleaved load: plain", load, {.interleaved = true}},
      {"interleaved load: all", load, all_pixel_features(true)},
      {"interleaved store: plain", store, {.interleaved = true}},
      {"interleaved store: all", store, all_pixel_features(true)},
  };
}

Im2colCase random_im2col_case(Random& random, PixelCopy copy, const PixelFeatures& features) {
  Im2colCase c{
      .copy = copy,
      .map = {.rank = static_cast<std::uint8_t>(between(random, 3, max_map_rank)), .mode = MapMode::im2col}};
  TensorMapSpec& map = c.map;
  map.type = copy != PixelCopy::add && features.types ? one_of(random, all_element_types) : ElementType::u32;
  if (features.swizzles) map.swizzle = static_cast<Swizzle>(between(random, 0, 3));
  map.l2_promotion = static_cast<L2Promotion>(between(random, 0, 3));
  if (can_fill_nan(map.type) && one_in(random, 3)) map.oob_fill = OobFill::nan;
  if (features.interleaved) map.interleave = one_in(random, 2) ? Interleave::b16 : Interleave::b32;
  std::fill_n(map.element_strides.begin(), map.rank, 1U);
  choose_channels(random, c, features);
  choose_image(random, c, features);
  choose_strides(random, map, features.padding);
  c.moved = features.moved && one_in(random, 3);
  c.prefetch = features.prefetch && copy == PixelCopy::load && one_in(random, 2);
  return c;
}

std::vector<Im2colCase> slices_cases() {
  std::vector<Im2colCase> cases;
  for (const Interleave interleave : {Interleave::b16, Interleave::b32}) {
    const std::uint64_t slice = interleave == Interleave::b16 ? 16 : 32;
    for (const ElementType type : {ElementType::u8, ElementType::u16, ElementType::u32, ElementType::u64}) {
      for (const std::uint32_t bytes : {16U, 32U, 48U, 128U}) {
        const std::uint32_t channels = bytes / size_of(type);
        cases.push_back({.map = {.type = type,
                                 .rank = 4,
                                 .interleave = interleave,
                                 .mode = MapMode::im2col,
                                 .shape = {2, 4, 5, 6},
                                 .strides = {120 * slice, 30 * slice, 6 * slice, slice},
                                 .element_strides = {1, 1, 1, 1},
                                 .pixel_box = {.channels = channels, .pixels = 8}},
                         .at = {0, 1, 2, 3}});
      }
    }
  }
  return cases;
}

std::vector<std::uint32_t> expected_origins(const Im2colCase& c) {
  const auto tensor = numbered_chunks(c.map);
  auto image = untouched_image();
  reference::load(c.map, std::as_bytes(std::span(tensor)), std::span(c.at).first(c.map.rank),
                  std::as_writable_bytes(std::span(image)), std::span(c.offsets).first(c.map.rank - 2U));
  return first_words(image);
}

std::string describe(const Im2colCase& c) {
  return fmt::format("{}{} at [{}] offsets [{}]{}, {}", c.prefetch ? "prefetched " : "",
                     names[static_cast<int>(c.copy)], fmt::join(std::span(c.at).first(c.map.rank), ", "),
                     fmt::join(std::span(c.offsets).first(c.map.rank - 2U), ", "),
                     c.moved ? " of a moved map" : "", reference::describe(c.map));
}

LoadedKernel& Im2colRuns::kernel(PixelCopy copy, std::uint32_t rank) {
  auto& kernel = kernels_[{copy, rank}];
  if (!kernel)
    kernel = device_->kernels().load(
        compile(custom_source(text_of(copy, rank), "k0", names[static_cast<int>(copy)])));
  return *kernel;
}

void Im2colRuns::launch(const Im2colCase& c, std::uint64_t image_bytes, DevicePtr image, DevicePtr tensor,
                        std::uint32_t expected) {
  const TensorMapSpec& map = c.map;
  std::vector<std::int32_t> numbers{static_cast<std::int32_t>(image_bytes),
                                    static_cast<std::int32_t>(expected)};
  for (auto d = map.rank; d-- > 0;) numbers.push_back(static_cast<std::int32_t>(c.at[d]));
  for (auto d = map.rank - 1U; d-- > 1;) numbers.push_back(static_cast<std::int32_t>(c.offsets[d - 1U]));
  numbers.push_back(c.prefetch ? 1 : 0);
  const Buffer number_memory = uploaded(device_, std::as_bytes(std::span(numbers)));
  EncodedTensorMap encoded = device_->maps().encode(map, c.moved ? image : tensor);
  if (c.moved) device_->maps().set_address(encoded, map, tensor);
  std::uint64_t number_address = number_memory.address();
  const std::array<void*, 3> parameters{&image, &number_address, &encoded};
  auto& run = kernel(c.copy, map.rank);
  const auto shared_bytes = static_cast<std::uint32_t>(image_bytes + 1024);
  run.allow_shared_bytes(shared_bytes);
  run.launch({.grid = {1, 1, 1}, .block = {threads, 1, 1}, .shared_bytes = shared_bytes}, parameters,
             nullptr);
  device_->streams().synchronize(nullptr);
}

std::vector<std::uint32_t> Im2colRuns::origins(const Im2colCase& c, std::uint32_t expected) {
  const auto tensor = numbered_chunks(c.map);
  auto image = untouched_image();
  const Buffer tensor_memory = uploaded(device_, std::as_bytes(std::span(tensor)));
  const Buffer image_memory = uploaded(device_, std::as_bytes(std::span(image)));
  launch(c, image.size() * 4, image_memory.address(), tensor_memory.address(), expected);
  device_->memory().copy_out(std::as_writable_bytes(std::span(image)), image_memory.address(), nullptr);
  device_->streams().synchronize(nullptr);
  return first_words(image);
}

std::string Im2colRuns::difference(const Im2colCase& c, std::uint64_t seed) {
  Random random(seed);
  const TensorMapSpec& map = c.map;
  const std::uint64_t image_bytes = (reference::image_bytes(map) + 1023) / 1024 * 1024;
  std::vector<std::byte> tensor = random_bytes(random, map.shape[0] * map.strides[0]);
  std::vector<std::byte> image = random_bytes(random, image_bytes);
  const Buffer tensor_memory = uploaded(device_, tensor);
  const Buffer image_memory = uploaded(device_, image);
  launch(c, image_bytes, image_memory.address(), tensor_memory.address(),
         static_cast<std::uint32_t>(tile_layout(map).transaction_bytes));
  std::vector<std::byte> found_tensor(tensor.size());
  std::vector<std::byte> found_image(image.size());
  device_->memory().copy_out(found_tensor, tensor_memory.address(), nullptr);
  device_->memory().copy_out(found_image, image_memory.address(), nullptr);
  device_->streams().synchronize(nullptr);

  const auto at = std::span(c.at).first(map.rank);
  if (c.copy == PixelCopy::load) {
    reference::load(map, tensor, at, image, std::span(c.offsets).first(map.rank - 2U));
  } else if (c.copy == PixelCopy::store) {
    const std::vector<std::byte> before = tensor;
    reference::store(map, tensor, at, image);
    return compare("tile", found_image, image) + compare("tensor", found_tensor, tensor) +
           stored(map, found_tensor, tensor, before, image);
  } else {
    std::vector<std::byte> added(tensor.size());
    reference::store(map, added, at, image);
    add_words(tensor, added);
  }
  return compare("tile", found_image, image) + compare("tensor", found_tensor, tensor);
}

}  // namespace gpu
