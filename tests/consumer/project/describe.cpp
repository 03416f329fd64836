// Types, views, tile layouts and their names.
#include "expect.hpp"

#include <tmajit/tmajit.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

using namespace tmajit;

static void names() {
  for (const ElementType type : all_element_types)
    expect(parse<ElementType>(name(type)) == type, "a type's name");
  expect(parse<MapMode>(name(MapMode::im2col)) == MapMode::im2col, "a mode's name");
  expect(parse<Swizzle>(name(Swizzle::b64)) == Swizzle::b64, "a swizzle's name");
  expect(parse<Interleave>(name(Interleave::b32)) == Interleave::b32, "an interleave's name");
  expect(parse<L2Promotion>(name(L2Promotion::b256)) == L2Promotion::b256, "an L2 promotion's name");
  expect(parse<Boundary>(name(Boundary::wrap)) == Boundary::wrap, "a boundary's name");
  expect(parse<OobFill>(name(OobFill::nan)) == OobFill::nan, "a fill's name");
  for (const AccessPattern pattern : all_access_patterns) {
    expect(parse<AccessPattern>(name(pattern)) == pattern, "a pattern's name");
  }
  expect(parse<CacheLevel>(name(CacheLevel::disk)) == CacheLevel::disk, "a cache level's name");
  expect(parse<ErrorCode>(name(ErrorCode::io)) == ErrorCode::io, "an error code's name");
  expect(parse<ArgumentType>(name(ArgumentType::axes)) == ArgumentType::axes, "an argument type's name");
  expect(parse<LogLevel>("info") == LogLevel::info && name(LogLevel::err) == "err", "a log level's name");
  expect_error(ErrorCode::invalid_argument, [] { static_cast<void>(parse<ElementType>("f33")); });
}

static void errors() {
  expect_error(ErrorCode::io, [] { throw Error(ErrorCode::io, "no such file"); });
  Violation violation;
  violation.rule = "box.rank";
  try {
    throw SpecError({violation});
  } catch (const SpecError& error) {
    expect(error.violations().at(0).rule == "box.rank", "a SpecError's violations");
  }
  try {
    throw CompileError("refused", "the log");
  } catch (const CompileError& error) {
    expect(error.log() == "the log", "a CompileError's log");
  }
}

static void views() {
  const std::vector<std::uint64_t> shape{4, 6};
  const Tensor tensor = Tensor::contiguous(ElementType::f32, shape, 4096);
  expect_error(ErrorCode::invalid_argument,
               [] { static_cast<void>(Dims(std::vector<std::uint64_t>{1ULL << 63})); });
  expect(TensorView::strided(ElementType::f32, {4, 6}, {8, 1}).span_bytes() == (3 * 8 + 6) * 4ULL,
         "span_bytes()");
  expect(tensor.view.elements() == 24, "elements()");
  expect(permuted(tensor, {1, 0}).view.shape[0] == 6, "permuted()");
  expect(sliced(tensor, std::array{Slice{.start = 1}}).address == 4096 + 24, "sliced()");
  expect(flipped(tensor, 1).view.strides[1] == -1, "flipped()");
  expect(broadcast(tensor, {2, 4, 6}).view.strides[0] == 0, "broadcast()");
  expect(number(2.0F).address == 0x40000000 && number(2).address == 2 && number(2.0).view.is_number &&
             number(std::int64_t{-1}).view.type == ElementType::i64,
         "number()");
  const std::variant<std::int64_t, double> half = 0.5;
  expect(number(half, number_type(half, {tensor.view})) == number(0.5F), "number_type()");
  expect(reshaped(tensor, {24}).view.rank == 1, "reshaped()");
  expect(reinterpreted(tensor, ElementType::u32).view.type == ElementType::u32, "reinterpreted()");
}

static void tiles() {
  const TensorView matrix = TensorView::contiguous(ElementType::f32, {64, 64});
  const auto map = TensorMapSpec::of(matrix, {8, 32}, Swizzle::b128);
  expect(validate(map).empty() && !validate(map, 8).empty(), "validate() of a tensor map");
  expect(tile_layout(map).bytes == 1024, "tile_layout() of a tensor map");
  expect(tile_layout(ElementType::f32, {8, 32}, Swizzle::b128).bytes == 1024, "tile_layout()");

  const TensorView images = TensorView::contiguous(ElementType::f32, {2, 16, 32});
  expect(tile_layout(TensorMapSpec::im2col(images, {.channels = 32, .pixels = 8})).rows == 8, "im2col()");

  // Slices of 16 bytes: the innermost dimension counts them.
  const TensorView slices = TensorView::strided(ElementType::f32, {2, 3, 8}, {96, 32, 4});
  expect(TensorMapSpec::of(slices, {.interleave = Interleave::b16, .box = {1, 1, 8}}).strides[2] == 16,
         "of() with options");

  const BoxLayout box(map);
  const auto offset = BoxLayout(ElementType::f32, {8, 32}, Swizzle::b128).offset({3, 5});
  expect(box.element(offset) == BoxElement{3, 5}, "element() is offset()'s inverse");
  expect(box.index({3, 5})[1] == 5, "index()");

  expect(instructions(box, AccessPattern::row, 4) == 8, "instructions()");
  const WarpAccess access = warp_access(box, AccessPattern::row, 4, 0);
  expect(wavefronts(access).ways == 1 && words_of_banks(access)[0] == 1, "a row has no bank conflicts");
  expect(conflicts(box, AccessPattern::row, 4).conflicting == 0, "conflicts()");
}

static void messages() {
  std::vector<std::string> heard;
  set_logger([&heard](LogLevel, std::string_view message) { heard.emplace_back(message); }, LogLevel::trace);
  // A cache folder that is a file cannot be written.
  expect(!DiskCache("/dev/null").store({}, {}) && !heard.empty(), "a warning reaches the callback");
  set_logger(nullptr);
}

void describe() {
  names();
  errors();
  views();
  tiles();
  messages();
}
