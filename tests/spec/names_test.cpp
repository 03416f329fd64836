#include <tmajit/bank_conflicts.hpp>
#include <tmajit/error.hpp>
#include <tmajit/tensor_map_spec.hpp>

#include <limits>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::MessageMatches;

TEST_CASE("every element type is parsed from its own name") {
  for (const auto type : all_element_types) CHECK(parse<ElementType>(name(type)) == type);
}

TEST_CASE("the names of NumPy and ml_dtypes are accepted, too") {
  CHECK(parse<ElementType>("float32") == ElementType::f32);
  CHECK(parse<ElementType>("int8") == ElementType::i8);
  CHECK(parse<ElementType>("uint64") == ElementType::u64);
  CHECK(parse<ElementType>("bfloat16") == ElementType::bf16);
  CHECK(parse<ElementType>("float8_e4m3fn") == ElementType::e4m3);
}

TEST_CASE("the error for an unknown name lists the legal ones") {
  CHECK_THROWS_MATCHES(
      parse<ElementType>("f8"), Error,
      MessageMatches(ContainsSubstring("\"f8\"") && ContainsSubstring("bf16") && ContainsSubstring("e5m2")));
  CHECK_THROWS_MATCHES(parse<Swizzle>("256B"), Error,
                       MessageMatches(ContainsSubstring("none, 32B, 64B, 128B")));
  CHECK_THROWS_MATCHES(parse<Interleave>(""), Error, MessageMatches(ContainsSubstring("none, 16B, 32B")));
  CHECK_THROWS_MATCHES(parse<L2Promotion>("512B"), Error, MessageMatches(ContainsSubstring("256B")));
  CHECK_THROWS_MATCHES(parse<OobFill>("one"), Error, MessageMatches(ContainsSubstring("zero, nan")));
  try {
    (void)parse<Swizzle>("256B");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
  }
}

TEST_CASE("the error for a misspelt name suggests the similar one, and no other") {
  const auto message = [](const auto& parse, const char* text) {
    try {
      static_cast<void>(parse(text));
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK_THAT(message(parse<ElementType>, "bflat16"), EndsWith("; did you mean bfloat16?"));
  CHECK_THAT(message(parse<ElementType>, "E4M3"), EndsWith("; did you mean e4m3?"));
  CHECK_THAT(message(parse<ElementType>, "unt32"), EndsWith("; did you mean uint32?"));
  CHECK_THAT(message(parse<Swizzle>, "128b"), EndsWith("; did you mean 128B?"));
  CHECK_THAT(message(parse<AccessPattern>, "matrix_transposed"),
             EndsWith("; did you mean matrix-transposed?"));
  CHECK_THAT(message(parse<ElementType>, "quaternion"), EndsWith("or NumPy's names"));
  CHECK_THAT(message(parse<Swizzle>, ""), EndsWith("128B"));
}

TEST_CASE("every enumerator is parsed from its own name") {
  for (std::uint8_t i = 0; i < 4; ++i) {
    CHECK(parse<Swizzle>(name(static_cast<Swizzle>(i))) == static_cast<Swizzle>(i));
    CHECK(parse<L2Promotion>(name(static_cast<L2Promotion>(i))) == static_cast<L2Promotion>(i));
  }
  for (std::uint8_t i = 0; i < 3; ++i) {
    CHECK(parse<Interleave>(name(static_cast<Interleave>(i))) == static_cast<Interleave>(i));
  }
  for (std::uint8_t i = 0; i < 2; ++i)
    CHECK(parse<OobFill>(name(static_cast<OobFill>(i))) == static_cast<OobFill>(i));
}

TEST_CASE("values that are no enumerators can be printed") {
  CHECK(name(static_cast<ElementType>(200)) == "unknown");
  CHECK(name(static_cast<Swizzle>(200)) == "unknown");
}

TEST_CASE("the message of an error is a sentence for one broken rule, and a list for several") {
  const Violation one{"box.range", "box[0]", "0", "1 to 256 elements", "box[0] = 1", "the driver"};
  const SpecError error({one});
  CHECK(error.code() == ErrorCode::illegal_spec);
  CHECK(
      std::string(error.what()) ==
      "illegal: box[0]: found 0; needs 1 to 256 elements; nearest legal: box[0] = 1 [box.range: the driver]");
  const SpecError two({one, one});
  CHECK_THAT(two.what(), ContainsSubstring("2 rules are broken:\n  box[0]: found 0"));
  CHECK(two.violations().size() == 2);
}

TEST_CASE("error codes have the names that are used in JSON") {
  CHECK(std::string(name(ErrorCode::illegal_spec)) == "illegal_spec");
  CHECK(std::string(name(ErrorCode::internal)) == "internal");
  CHECK(CompileError("what", "log").log() == "log");
}
