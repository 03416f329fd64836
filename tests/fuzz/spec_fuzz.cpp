// Arbitrary bytes as specs, requests and names: no call may crash, overflow or read out of range, and every
// violation must have its texts.
#include "families/list.hpp"
#include "families/tiles/tile_family.hpp"
#include "tiles/tile_rules.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/error.hpp>
#include <tmajit/tiles.hpp>
#include <tmajit/validate.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

using namespace tmajit;

namespace {

/// Takes values from the front of the input. After its end all bytes are 0.
class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  template <typename T>
  T take() {
    T value{};
    const auto count = std::min(sizeof(T), bytes_.size());
    std::memcpy(static_cast<void*>(&value), bytes_.data(), count);
    bytes_ = bytes_.subspan(count);
    return value;
  }

  [[nodiscard]] std::string_view rest() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

void require(bool condition) {
  if (!condition) std::abort();
}

void check_texts(const std::vector<Violation>& violations) {
  for (const auto& v : violations) {
    require(!v.rule.empty() && !v.subject.empty() && !v.found.empty() && !v.need.empty() &&
            !v.legal.empty() && !v.source.empty());
  }
  if (!violations.empty()) require(SpecError(violations).code() == ErrorCode::illegal_spec);
}

/// Runs `action`, which may throw Error{invalid_argument} and nothing else.
template <typename Action>
void try_to(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    require(error.code() == ErrorCode::invalid_argument && error.what()[0] != '\0');
  }
}

void fuzz_map(Input input) {
  const auto map = input.take<TensorMapSpec>();
  check_texts(validate(map, input.take<std::uint64_t>()));
  require(tile_layout(map).bytes >= tile_layout(map).rows || tile_layout(map).pitch_bytes == 0);
}

/// All tile families.
std::vector<const TileFamily*> tile_families() {
  std::vector<const TileFamily*> found;
  for (const Family* family : all_families()) {
    if (const auto* tiles = dynamic_cast<const TileFamily*>(family)) found.push_back(tiles);
  }
  return found;
}

void fuzz_kernel(Input input) {
  static const std::vector<const TileFamily*> families = tile_families();
  const std::array tensors{Tensor{input.take<TensorView>(), input.take<DevicePtr>()},
                           Tensor{input.take<TensorView>(), input.take<DevicePtr>()}};
  TileSpec spec;
  static_cast<TileFacts&>(spec) = input.take<TileFacts>();
  spec.traits = &families.at(input.take<std::uint8_t>() % families.size())->traits();
  spec.l2_promotion = input.take<L2Promotion>();
  spec.oob_fill = input.take<OobFill>();
  spec.expression = input.rest();
  Violations violations;
  check_tiles(spec, tensors, violations);
  check_texts(violations.take());
  require(shared_layout(spec).bytes >= 1024);
  require(threads(spec) >= 32);
  try_to([&] { (void)output_view(spec, tensors[1].view); });
  try_to([&] { check_texts(validate(tensor_map(spec, 1, tensors[1].view))); });
}

/// Requests of arbitrary bytes, which must be rejected, or planned and generated as source.
void fuzz_requests(Input input) {
  const std::array tensors{Tensor{input.take<TensorView>(), input.take<DevicePtr>()},
                           Tensor{input.take<TensorView>(), input.take<DevicePtr>()}};
  const auto box = input.take<std::array<std::uint32_t, 2>>();
  const auto steps = input.take<std::array<std::uint8_t, 2>>();
  const auto counts = input.take<std::array<std::uint8_t, 8>>();
  const std::array<std::uint32_t, 2> element_strides{steps[0], steps[1]};
  TileRequest request{.destination = tensors[0],
                      .sources = {tensors[1]},
                      .expression = input.rest(),
                      .tiles = {.swizzle = static_cast<Swizzle>(counts[4]),
                                .interleave = static_cast<Interleave>(counts[5]),
                                .stages = counts[0],
                                .output_stages = counts[1],
                                .warps = counts[2],
                                .ctas_per_sm = counts[3]}};
  if (counts[6] % 2 == 1) request.tiles.box = box;
  if (counts[7] % 2 == 1) request.tiles.element_strides = element_strides;
  for (const FamilyInfo& family : families()) {
    if (!family.does("tiles")) continue;
    request.family = family.name;
    try_to([&] {
      const auto violations = validate(request);
      check_texts(violations);
      if (!violations.empty()) return;
      require(!source(plan_tiles(request)).text.empty());
    });
    try_to([&] { (void)destination_view(request); });
  }
}

void fuzz_names(std::string_view text) {
  try_to([&] { require(is_known(parse<ElementType>(text))); });
  try_to([&] { require(name(parse<Swizzle>(text)) == text); });
  try_to([&] { require(name(parse<Interleave>(text)) == text); });
  try_to([&] { require(name(parse<L2Promotion>(text)) == text); });
  try_to([&] { require(name(parse<OobFill>(text)) == text); });
  try_to([&] { require(find_family(text).name == text); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Input input(std::span(data, size).subspan(1));
  switch (data[0] % 4) {
    case 0: fuzz_map(input); break;
    case 1: fuzz_kernel(input); break;
    case 2: fuzz_requests(input); break;
    default: fuzz_names(input.rest()); break;
  }
  return 0;
}
