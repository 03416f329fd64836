#include "driver/fake_driver.hpp"
#include "driver/gpu.hpp"

#include <tmajit/error.hpp>

#include <cstddef>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A 3-D map in which every number is different.
TensorMapSpec sample() {
  return {.type = ElementType::f16,
          .rank = 3,
          .interleave = Interleave::b32,
          .swizzle = Swizzle::b32,
          .l2_promotion = L2Promotion::b256,
          .oob_fill = OobFill::nan,
          .shape = {7, 100, 64},
          .strides = {20000, 160, 2},
          .box = {3, 5, 16},
          .element_strides = {4, 2, 1}};
}

}  // namespace

TEST_CASE("the encoder passes dimensions to the driver innermost first") {
  FakeDriver fake;
  const EncodedTensorMap map = driver::encode(fake.api, sample(), 0x7f0012340000);

  REQUIRE(fake.encoded.size() == 1);
  const FakeDriver::Encoded& got = fake.encoded[0];
  CHECK(got.type == CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
  CHECK(got.rank == 3);
  CHECK(reinterpret_cast<std::uintptr_t>(got.address) == 0x7f0012340000);
  CHECK(got.dims == std::vector<std::uint64_t>{64, 100, 7});
  CHECK(got.strides == std::vector<std::uint64_t>{160, 20000});
  CHECK(got.box == std::vector<std::uint32_t>{16, 5, 3});
  CHECK(got.element_strides == std::vector<std::uint32_t>{1, 2, 4});
  CHECK(got.interleave == CU_TENSOR_MAP_INTERLEAVE_32B);
  CHECK(got.swizzle == CU_TENSOR_MAP_SWIZZLE_32B);
  CHECK(got.l2_promotion == CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
  CHECK(got.oob_fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);

  CHECK(map.opaque.front() == std::byte{0x5a});
  CHECK(map.opaque.back() == std::byte{0x5a});
  CHECK(reinterpret_cast<std::uintptr_t>(&map) % 128 == 0);
}

TEST_CASE("an element type maps to the driver's type, or to the unsigned type of its size") {
  const std::vector<std::uint32_t> expected{
      CU_TENSOR_MAP_DATA_TYPE_UINT8,        CU_TENSOR_MAP_DATA_TYPE_UINT8,        // u8, i8
      CU_TENSOR_MAP_DATA_TYPE_UINT16,       CU_TENSOR_MAP_DATA_TYPE_UINT16,       // u16, i16
      CU_TENSOR_MAP_DATA_TYPE_UINT32,       CU_TENSOR_MAP_DATA_TYPE_INT32,        // u32, i32
      CU_TENSOR_MAP_DATA_TYPE_UINT64,       CU_TENSOR_MAP_DATA_TYPE_INT64,        // u64, i64
      CU_TENSOR_MAP_DATA_TYPE_FLOAT16,      CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,     // f16, bf16
      CU_TENSOR_MAP_DATA_TYPE_FLOAT32,      CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,  // f32, f32_ftz
      CU_TENSOR_MAP_DATA_TYPE_FLOAT64,      CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,     // f64, tf32
      CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,                                       // tf32_ftz
      CU_TENSOR_MAP_DATA_TYPE_UINT8,        CU_TENSOR_MAP_DATA_TYPE_UINT8,        // e4m3, e5m2
  };
  FakeDriver fake;
  for (const ElementType type : all_element_types) {
    TensorMapSpec spec = sample();
    spec.type = type;
    (void)driver::encode(fake.api, spec, 0);
  }
  std::vector<std::uint32_t> types;
  for (const FakeDriver::Encoded& one : fake.encoded) types.push_back(one.type);
  CHECK(types == expected);
}

TEST_CASE("interleave, swizzle, promotion and fill modes map to the driver's enumerators") {
  FakeDriver fake;
  for (std::uint32_t i = 0; i < 4; ++i) {
    TensorMapSpec spec = sample();
    spec.swizzle = static_cast<Swizzle>(i);
    spec.l2_promotion = static_cast<L2Promotion>(i);
    spec.interleave = static_cast<Interleave>(i % 3);
    spec.oob_fill = static_cast<OobFill>(i % 2);
    (void)driver::encode(fake.api, spec, 0);
    CHECK(fake.encoded.back().swizzle == i);
    CHECK(fake.encoded.back().l2_promotion == i);
    CHECK(fake.encoded.back().interleave == i % 3);
    CHECK(fake.encoded.back().oob_fill == i % 2);
  }
}

TEST_CASE("invalid enumerators are passed to the driver as values that none of its enumerators has") {
  FakeDriver fake;
  TensorMapSpec spec = sample();
  spec.type = static_cast<ElementType>(200);
  spec.rank = 255;
  spec.interleave = static_cast<Interleave>(77);
  spec.swizzle = static_cast<Swizzle>(4);
  spec.l2_promotion = static_cast<L2Promotion>(4);
  spec.oob_fill = static_cast<OobFill>(2);
  fake.failures["cuTensorMapEncodeTiled"] = CUDA_ERROR_INVALID_VALUE;
  CHECK_THROWS_AS(driver::encode(fake.api, spec, 0), Error);

  const FakeDriver::Encoded& got = fake.encoded.at(0);
  constexpr std::uint32_t largest = CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;  // in all five enums
  for (const std::uint32_t value : {got.type, got.interleave, got.swizzle, got.l2_promotion, got.oob_fill}) {
    CHECK(value > largest);
  }
  CHECK(got.rank == 255);
  CHECK(got.dims == std::vector<std::uint64_t>{0, 0, 64, 100, 7});
}

TEST_CASE("rank 0 and 1 have no strides") {
  FakeDriver fake;
  TensorMapSpec spec = sample();
  spec.rank = 1;
  (void)driver::encode(fake.api, spec, 0);
  CHECK(fake.encoded.back().dims == std::vector<std::uint64_t>{7});
  CHECK(fake.encoded.back().strides.empty());
  spec.rank = 0;
  (void)driver::encode(fake.api, spec, 0);
  CHECK(fake.encoded.back().dims.empty());
}

TEST_CASE("the error of a refused tensor map shows every argument") {
  FakeDriver fake;
  fake.failures["cuTensorMapEncodeTiled"] = CUDA_ERROR_INVALID_VALUE;
  try {
    (void)driver::encode(fake.api, sample(), 0x7f0012340008);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::illegal_spec);
    for (const char* part :
         {"CUDA_ERROR_INVALID_VALUE", "type f16 (6)", "rank 3", "0x7f0012340008", "dims [64, 100, 7]",
          "strides [160, 20000] bytes", "box [16, 5, 3]", "element strides [1, 2, 4]", "interleave 32B (2)",
          "swizzle 32B (1)", "L2 promotion 256B (3)", "OOB fill nan (1)"}) {
      CHECK_THAT(error.what(), ContainsSubstring(part));
    }
  }
}

namespace {

/// A 5-D map for im2col in which every number is different.
TensorMapSpec images() {
  return {.type = ElementType::bf16,
          .rank = 5,
          .mode = MapMode::im2col,
          .shape = {7, 11, 13, 17, 64},
          .strides = {500000, 40000, 2400, 160, 2},
          .element_strides = {1, 2, 3, 4, 5},
          .pixel_box = {.lower = {-1, -2, -3}, .upper = {-4, 5, -6}, .channels = 32, .pixels = 100}};
}

}  // namespace

TEST_CASE("the encoder passes an im2col map's corners to the driver innermost first") {
  FakeDriver fake;
  const EncodedTensorMap map = driver::encode(fake.api, images(), 0x7f0012340000);
  REQUIRE(fake.encoded.size() == 1);
  const FakeDriver::Encoded& got = fake.encoded[0];
  CHECK(got.rank == 5);
  CHECK(got.dims == std::vector<std::uint64_t>{64, 17, 13, 11, 7});
  CHECK(got.strides == std::vector<std::uint64_t>{160, 2400, 40000, 500000});
  CHECK(got.element_strides == std::vector<std::uint32_t>{5, 4, 3, 2, 1});
  CHECK(got.box.empty());
  CHECK(got.lower == std::vector<int>{-3, -2, -1});
  CHECK(got.upper == std::vector<int>{-6, 5, -4});
  CHECK(got.channels == 32);
  CHECK(got.pixels == 100);
  CHECK(map.opaque.front() == std::byte{0xa5});
  TensorMapSpec line = images();
  line.rank = 3;
  (void)driver::encode(fake.api, line, 0);
  CHECK(fake.encoded.back().lower == std::vector<int>{-1});
  CHECK(fake.encoded.back().upper == std::vector<int>{-4});
}

TEST_CASE("the error of a refused im2col map shows its corners and counts") {
  FakeDriver fake;
  fake.failures["cuTensorMapEncodeIm2col"] = CUDA_ERROR_INVALID_VALUE;
  try {
    (void)driver::encode(fake.api, images(), 0);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::illegal_spec);
    for (const char* part :
         {"cuTensorMapEncodeIm2col refused", "lower corner [-3, -2, -1]", "upper corner [-6, 5, -4]",
          "channels per pixel 32", "pixels per column 100", "element strides [5, 4, 3, 2, 1]"}) {
      CHECK_THAT(error.what(), ContainsSubstring(part));
    }
  }
}
