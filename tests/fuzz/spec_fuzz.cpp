// Arbitrary bytes as specs and names: nothing may crash, overflow or read out of range, and every violation
// must have something to say.
#include <tmajit/error.hpp>
#include <tmajit/validate.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

using namespace tmajit;

namespace {

/// Takes values off the front of the input; zeros where it ends.
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

void fuzz_kernel(Input input) {
  const std::array views{input.take<TensorView>(), input.take<TensorView>()};
  const auto spec = input.take<KernelSpec>();
  check_texts(validate(spec));
  check_texts(validate(spec, views));
  require(shared_layout(spec).bytes >= 1024);
  require(threads(spec) >= 32);
  try_to([&] { (void)output_view(spec, views[0]); });
  try_to([&] { check_texts(validate(tensor_map(spec, 0, views[0]))); });
}

void fuzz_builders(Input input) {
  const std::array views{input.take<TensorView>(), input.take<TensorView>()};
  const auto box = input.take<std::array<std::uint32_t, 2>>();
  const auto steps = input.take<std::array<std::uint8_t, 2>>();
  const auto counts = input.take<std::array<std::uint8_t, 8>>();
  const std::array<std::uint32_t, 2> element_strides{steps[0], steps[1]};
  TileOptions options{.swizzle = static_cast<Swizzle>(counts[4]),
                      .interleave = static_cast<Interleave>(counts[5]),
                      .stages = counts[0],
                      .output_stages = counts[1],
                      .warps = counts[2],
                      .ctas_per_sm = counts[3]};
  if (counts[6] % 2 == 1) options.box = box;
  if (counts[7] % 2 == 1) options.element_strides = element_strides;
  try_to([&] { check_texts(validate(copy_spec(views[0], views[1], options), views)); });
  try_to([&] { check_texts(validate(snapshot_spec(views[0], options))); });
  try_to([&] {
    check_texts(validate(map_spec(input.rest(), std::span(views).first(1), views[1], options), views));
  });
  try_to([&] { check_texts(validate(bulk_spec(input.rest(), views[0].type, views[1].type, options))); });
}

void fuzz_names(std::string_view text) {
  try_to([&] { require(is_known(parse_element_type(text))); });
  try_to([&] { require(name(parse_swizzle(text)) == text); });
  try_to([&] { require(name(parse_interleave(text)) == text); });
  try_to([&] { require(name(parse_l2_promotion(text)) == text); });
  try_to([&] { require(name(parse_oob_fill(text)) == text); });
  try_to([&] { require(name(parse_family(text)) == text); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Input input(std::span(data, size).subspan(1));
  switch (data[0] % 4) {
    case 0: fuzz_map(input); break;
    case 1: fuzz_kernel(input); break;
    case 2: fuzz_builders(input); break;
    default: fuzz_names(input.rest()); break;
  }
  return 0;
}
