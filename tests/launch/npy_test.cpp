#include "launch/npy.hpp"

#include "seed.hpp"
#include "temporary_folder.hpp"

#include <tmajit/error.hpp>

#include <random>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <spdlog/fmt/fmt.h>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

/// A file of `version` with this header text and `data` bytes of data.
std::string file_of(std::string_view header, std::size_t data = 0, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (std::size_t i = 0; i < (version == 1 ? 2U : 4U); ++i) {
    bytes += static_cast<char>(header.size() >> (8 * i) & 0xffU);
  }
  return bytes.append(header).append(data, '\0');
}

NpyHeader parse(std::string_view bytes) {
  return parse_npy_header(std::as_bytes(std::span(bytes)), bytes.size());
}

ErrorCode code_of(std::string_view bytes) {
  try {
    static_cast<void>(parse(bytes));
  } catch (const Error& error) {
    return error.code();
  }
  FAIL("accepted: " << bytes);
  return ErrorCode::internal;
}

}  // namespace

TEST_CASE("written arrays read back, for random types and shapes") {
  const auto seed = tests::seed(std::random_device{}());
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const TemporaryFolder folder;
  for (int round = 0; round < 300; ++round) {
    const auto type = all_element_types[random() % all_element_types.size()];
    std::vector<std::uint64_t> shape(random() % 6);
    for (auto& extent : shape) extent = random() % 7;
    std::uint64_t bytes = size_of(type);
    for (const auto extent : shape) bytes *= extent;
    CAPTURE(name(type), shape);
    std::string expected;
    {
      OutputArray file(folder / "a.npy");
      auto memory = file.reserve(npy_descr(type), size_of(type), shape);
      REQUIRE(memory.size() == bytes);
      for (auto& byte : memory) {
        byte = static_cast<std::byte>(random() & 0xffU);
        expected += static_cast<char>(byte);
      }
      file.commit();
    }
    const InputArray array(folder / "a.npy");
    CHECK(array.header().shape == shape);
    CHECK(array.header().data_offset % 64 == 0);
    CHECK_FALSE(array.header().fortran_order);
    CHECK(std::string(reinterpret_cast<const char*>(array.data().data()), array.data().size()) == expected);
    CHECK_NOTHROW(array.check(type));
    CHECK(npy_descr(array.type()) == npy_descr(type));
  }
}

TEST_CASE("written headers equal NumPy's") {
  CHECK(format_npy_header("<f4", std::vector<std::uint64_t>{3, 4}).substr(10) ==
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }" + std::string(58, ' ') + "\n");
  CHECK_THAT(format_npy_header("|u1", std::vector<std::uint64_t>{5}), ContainsSubstring("'shape': (5,), }"));
  CHECK_THAT(format_npy_header("|u1", {}), ContainsSubstring("'shape': (), }"));
}

TEST_CASE(
    "headers are parsed in versions 1 to 3, with any order of keys, either quotes and Python 2's integers") {
  const int version = GENERATE(1, 2, 3);
  const auto header =
      parse(file_of("{\"shape\": (2L, 3L), 'fortran_order': True, 'descr': '>i8'}\n", 48, version));
  CHECK(header.shape == std::vector<std::uint64_t>{2, 3});
  CHECK(header.fortran_order);
  CHECK(header.big_endian);
  CHECK(header.kind == 'i');
  CHECK(header.item_bytes == 8);
  CHECK(header.data_bytes == 48);
}

TEST_CASE("arrays without dimensions and arrays without elements are parsed") {
  CHECK(parse(file_of("{'descr': '<f8', 'fortran_order': False, 'shape': (), }\n", 8)).data_bytes == 8);
  CHECK(parse(file_of("{'descr': '<f8', 'fortran_order': False, 'shape': (0, 18446744073709551615, 9), }\n"))
            .data_bytes == 0);
}

TEST_CASE("damaged files are io errors") {
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n";
  REQUIRE_NOTHROW(parse(file_of(good, 48)));
  REQUIRE_NOTHROW(parse(file_of(good, 49)));  // trailing bytes may be another array, as in NumPy
  const auto bytes = GENERATE_COPY(values<std::string>({
      "",
      "hello, this is no array",
      "PK\x03\x04 a .npz archive is a zip file",
      file_of(good, 47),
      file_of(good, 0),
      file_of(good, 48, 4),
      file_of(good, 48, 0),
      file_of("", 48),
      file_of("{}", 48),
      file_of("{'descr': '<f4', 'shape': (3, 4)}", 48),
      file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), 'more': 1}", 48),
      file_of("{'descr': '<f4', 'fortran_order': 0, 'shape': (3, 4)}", 48),
      file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (3, -4)}", 48),
      file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4}", 48),
      file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (3 4)}", 48),
      file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616,)}", 48),
      file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296)}", 48),
      file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4)} + 1", 48),
      file_of("{'descr': '<f4, 'fortran_order': False, 'shape': (3, 4)}", 48),
      file_of("{'descr': 'x', 'fortran_order': False, 'shape': (3, 4)}", 48),
      file_of("{'descr': '<f', 'fortran_order': False, 'shape': (3, 4)}", 48),
      file_of("{'descr': '', 'fortran_order': False, 'shape': (3, 4)}", 48),
  }));
  CHECK(code_of(bytes) == ErrorCode::io);
}

TEST_CASE("a file truncated at any byte is an io error") {
  const auto whole = file_of("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }\n", 48);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK(code_of(whole.substr(0, size)) == ErrorCode::io);
  }
}

TEST_CASE("element types that no kernel takes are invalid arguments, not io errors") {
  const auto descr = GENERATE(values<std::string>({"'|O'", "'<c8'", "'<U10'", "'|S3'", "'<M8[ns]'", "'<f16'",
                                                   "'|V3'", "'<V16'", "[('a', '<f4'), ('b', '<i4')]"}));
  CHECK(code_of(file_of("{'descr': " + descr + ", 'fortran_order': False, 'shape': (), }\n", 64)) ==
        ErrorCode::invalid_argument);
}

TEST_CASE("a file's elements have the file's type, or are the bits of a type that NumPy lacks") {
  const auto header = [](const std::string& descr) {
    return parse(file_of("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (1,), }\n", 8));
  };
  CHECK(natural_type(header("<f2")) == ElementType::f16);
  CHECK(natural_type(header("<u2")) == ElementType::u16);
  CHECK(natural_type(header("|b1")) == ElementType::u8);
  CHECK(natural_type(header(">f4")) == ElementType::f32);
  CHECK(natural_type(header("<f8")) == ElementType::f64);
  CHECK(natural_type(header("<f1")) == ElementType::e5m2);  // as ml_dtypes saves it
  CHECK_THROWS_MATCHES(natural_type(header("<V2")), Error, MessageMatches(ContainsSubstring("--dtype")));

  CHECK_NOTHROW(check_type(header("<u2"), ElementType::bf16));
  CHECK_NOTHROW(check_type(header("<i2"), ElementType::bf16));
  CHECK_NOTHROW(check_type(header("|V2"), ElementType::bf16));
  CHECK_NOTHROW(check_type(header("|u1"), ElementType::e4m3));
  CHECK_NOTHROW(check_type(header("<f1"), ElementType::e5m2));
  CHECK_NOTHROW(check_type(header("|V1"), ElementType::e5m2));
  CHECK_NOTHROW(check_type(header("|V1"), ElementType::e4m3));
  CHECK_THROWS(check_type(header("<f1"), ElementType::e4m3));
  CHECK_NOTHROW(check_type(header("<f4"), ElementType::tf32));
  CHECK_NOTHROW(check_type(header("<u4"), ElementType::f32_ftz));
  CHECK_THROWS_AS(check_type(header("<f2"), ElementType::bf16), Error);
  CHECK_THROWS_AS(check_type(header("<f4"), ElementType::bf16), Error);
  CHECK_THROWS_AS(check_type(header("<f8"), ElementType::tf32), Error);
  CHECK_THROWS_AS(check_type(header("<u4"), ElementType::f32), Error);
  CHECK_THROWS_AS(check_type(header("<i4"), ElementType::u32), Error);
  CHECK_THROWS_MATCHES(check_type(header("<f4"), ElementType::f16), Error,
                       MessageMatches(ContainsSubstring("astype('f2')")));
  // The error may not suggest a.astype('u2'), which would round the values to integers.
  CHECK_THROWS_MATCHES(check_type(header("<f4"), ElementType::bf16), Error,
                       MessageMatches(ContainsSubstring("a.astype(ml_dtypes.bfloat16) converts the values") &&
                                      !ContainsSubstring("view")));
  CHECK_THROWS_MATCHES(check_type(header("<f2"), ElementType::bf16), Error,
                       MessageMatches(ContainsSubstring("a.view(ml_dtypes.bfloat16) reinterprets the bits")));
}

TEST_CASE("errors name the file") {
  const TemporaryFolder folder;
  tests::write_file(folder / "bad.npy", "no array");
  CHECK_THROWS_MATCHES(InputArray(folder / "bad.npy"), Error, MessageMatches(ContainsSubstring("bad.npy: ")));
}
