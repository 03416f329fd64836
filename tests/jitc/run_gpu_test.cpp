#include "arrays.hpp"
#include "launch/npy.hpp"
#include "subprocess.hpp"

#include <cstring>
#include <random>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;

namespace {

template <class Element>
std::vector<Element> random_elements(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<Element> elements(count);
  for (auto& element : elements) element = static_cast<Element>(static_cast<int>(random() % 2000) - 1000);
  return elements;
}

void run_ok(const std::vector<std::string>& arguments) {
  const auto result = jitc::test::jitc(arguments);
  INFO(result.err);
  REQUIRE(result.status == 0);
  CHECK(result.out.empty());
}

}  // namespace

TEST_CASE("copy: the output equals the input though rows are padded on the device", "[gpu]") {
  require_hopper();
  const Folder folder;
  const auto elements = random_elements<std::uint8_t>(301UL * 77, seed());
  write_npy(folder / "a.npy", "|u1", {301, 77}, bytes_of(elements));
  run_ok(
      {"run", "copy", "--in", folder / "a.npy", "--out", folder / "y.npy", "--stages", "2", "--repeat", "3"});
  CHECK(data_of(folder / "y.npy") == bytes_of(elements));
  CHECK(jitc::InputArray(folder / "y.npy").header().shape == std::vector<std::uint64_t>{301, 77});
}

TEST_CASE("copy: strides of input and output and element strides select the right elements", "[gpu]") {
  require_hopper();
  const Folder folder;
  const auto elements = random_elements<float>(64UL * 96, seed());
  write_npy(folder / "a.npy", "<f4", {64, 96}, bytes_of(elements));
  run_ok({"run", "copy", "--in", folder / "a.npy", "--out", folder / "y.npy", "--strides", "128,1",
          "--out-strides", "100,1", "--box", "16x32", "--swizzle", "128B", "--repeat", "3"});
  CHECK(data_of(folder / "y.npy") == bytes_of(elements));

  run_ok({"run", "copy", "--in", folder / "a.npy", "--out", folder / "y.npy", "--box", "16x32",
          "--element-strides", "2x1", "--repeat", "3"});
  std::vector<float> expected;
  for (std::size_t row = 0; row < 64; row += 2) {
    expected.insert(expected.end(), elements.begin() + static_cast<std::ptrdiff_t>(row * 96),
                    elements.begin() + static_cast<std::ptrdiff_t>(row * 96 + 96));
  }
  CHECK(data_of(folder / "y.npy") == bytes_of(expected));
}

TEST_CASE("map: two inputs of different types, one of them in Fortran order and big-endian", "[gpu]") {
  require_hopper();
  const Folder folder;
  constexpr std::size_t rows = 50, columns = 70;
  const auto a = random_elements<float>(rows * columns, seed());
  const auto b = random_elements<std::int32_t>(rows * columns, seed() + 1);
  write_npy(folder / "a.npy", "<f4", {rows, columns}, bytes_of(a));
  std::string fortran;
  for (std::size_t column = 0; column < columns; ++column) {
    for (std::size_t row = 0; row < rows; ++row) {
      const auto bits = __builtin_bswap32(static_cast<std::uint32_t>(b[row * columns + column]));
      fortran.append(reinterpret_cast<const char*>(&bits), 4);
    }
  }
  std::string header = tmajit::format_npy_header(">i4", std::vector<std::uint64_t>{rows, columns});
  header.replace(header.find("False"), 5, "True ");
  write_file(folder / "b.npy", header + fortran);
  run_ok({"run", "map", "--expr", "x0 * 2 + (float)x1", "--in", folder / "a.npy", "--in", folder / "b.npy",
          "--out", folder / "y.npy", "--out-dtype", "f32", "--repeat", "3"});
  std::vector<float> expected(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) expected[i] = a[i] * 2 + static_cast<float>(b[i]);
  CHECK(data_of(folder / "y.npy") == bytes_of(expected));
}

TEST_CASE("map: each element plus its index in the tile", "[gpu]") {
  require_hopper();
  const Folder folder;
  std::vector<float> matrix(64);
  for (std::size_t i = 0; i < 64; ++i) matrix[i] = static_cast<float>(i);
  write_npy(folder / "a.npy", "<f4", {8, 8}, bytes_of(matrix));
  run_ok({"run", "map", "--expr", "x + tile_index", "--box", "4x4", "--in", folder / "a.npy", "--out",
          folder / "y.npy", "--repeat", "3"});
  const auto result = data_of(folder / "y.npy");
  std::vector<float> row(4);
  std::memcpy(row.data(), result.data() + (4 * 8 + 4) * sizeof(float), 4 * sizeof(float));
  CHECK(row == std::vector<float>{36, 38, 40, 42});
}

TEST_CASE("map: files hold bf16 as u2", "[gpu]") {
  require_hopper();
  const Folder folder;
  const std::vector<std::uint16_t> ones(32UL * 32, 0x3f80);
  write_npy(folder / "a.npy", "<u2", {32, 32}, bytes_of(ones));
  run_ok({"run", "map", "--expr", "x * 2", "--dtype", "bf16", "--in", folder / "a.npy", "--out",
          folder / "y.npy", "--repeat", "3"});
  CHECK(data_of(folder / "y.npy") == bytes_of(std::vector<std::uint16_t>(32UL * 32, 0x4000)));
}

TEST_CASE("bulk: arrays of any length and rank keep their shape", "[gpu]") {
  require_hopper();
  const Folder folder;
  const auto elements = random_elements<std::int32_t>(3UL * 5 * 1031, seed());
  write_npy(folder / "a.npy", "<i4", {3, 5, 1031}, bytes_of(elements));
  run_ok({"run", "bulk", "--expr", "x + 1", "--in", folder / "a.npy", "--out", folder / "y.npy", "--repeat",
          "3"});
  auto expected = elements;
  for (auto& element : expected) ++element;
  CHECK(data_of(folder / "y.npy") == bytes_of(expected));
  CHECK(jitc::InputArray(folder / "y.npy").header().shape == std::vector<std::uint64_t>{3, 5, 1031});
}

TEST_CASE("snapshot: a 128B-swizzled tile has its 16-byte chunks permuted by row", "[gpu]") {
  require_hopper();
  const Folder folder;
  constexpr std::size_t rows = 16, width = 128;
  const auto elements = random_elements<std::uint8_t>(rows * width, seed());
  write_npy(folder / "a.npy", "|u1", {rows, width}, bytes_of(elements));
  run_ok({"run", "snapshot", "--in", folder / "a.npy", "--out", folder / "y.npy", "--box", "8x128",
          "--swizzle", "128B", "--repeat", "3"});
  const jitc::InputArray image(folder / "y.npy");
  REQUIRE(image.header().shape == std::vector<std::uint64_t>{2, 1024});
  std::vector<std::uint8_t> expected(elements.size());
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < width; ++column) {
      expected[row * width + (column ^ (row % 8 * 16))] = elements[row * width + column];
    }
  }
  CHECK(data_of(folder / "y.npy") == bytes_of(expected));
}

TEST_CASE("the report of a run has the kernel, its times and its speed", "[gpu]") {
  require_hopper();
  const Folder folder;
  write_npy(folder / "a.npy", "<f4", {1024, 1024}, std::string(1024UL * 1024 * 4, '\0'));
  const auto json =
      jitc_json({"run", "copy", "--in", folder / "a.npy", "--out", folder / "y.npy", "--repeat", "5"});
  const auto& run = json.at("run");
  CHECK(run.at("device").at("compute_capability") == "9.0");
  CHECK(run.at("device").at("simulated") == false);
  CHECK(run.at("bytes") == 2 * 1024 * 1024 * 4);
  CHECK(run.at("milliseconds").at("median").get<double>() > 0);
  CHECK(run.at("milliseconds").at("min").get<double>() <= run.at("milliseconds").at("median").get<double>());
  CHECK(run.at("gb_per_s").get<double>() > 0);
  CHECK(run.at("driver_copy").at("gb_per_s").get<double>() > 0);
  CHECK(json.at("outputs") == std::vector<std::string>{folder / "y.npy"});

  const auto text = jitc::test::jitc({"run", "copy", "--in", folder / "a.npy", "--repeat", "5"});
  CHECK(text.status == 0);
  for (const auto* word : {"input", "problem", "source", "kernel", "registers", "GB/s", "driver"}) {
    INFO(word);
    CHECK_THAT(text.err, ContainsSubstring(word));
  }
}

TEST_CASE("a run that fails writes no file", "[gpu]") {
  require_hopper();
  const Folder folder;
  write_npy(folder / "a.npy", "<f4", {1024, 1024}, std::string(1024UL * 1024 * 4, '\0'));
  const std::vector<std::string> arguments{"run",   "copy",          "--in", folder / "a.npy",
                                           "--out", folder / "y.npy"};
  const auto limited = jitc::test::jitc(arguments, {.file_size_limit = 1 << 20});
  CHECK(limited.status == 3);
  CHECK_THAT(limited.err, ContainsSubstring("File too large"));
  CHECK(folder.names() == std::vector<std::string>{"a.npy"});

  const auto full = jitc::test::jitc({"run", "copy", "--in", folder / "a.npy", "--out", "/dev/full"});
  CHECK(full.status == 3);
  CHECK_THAT(full.err, ContainsSubstring("No space left"));

  CHECK(jitc::test::jitc({"run", "copy", "--in", folder / "a.npy", "--device", "gpu:999"}).status == 3);
}

TEST_CASE("a GPU and the simulated device write the same file", "[gpu]") {
  require_hopper();
  const Folder folder;
  const auto elements = random_elements<float>(333UL * 77, seed());
  write_npy(folder / "a.npy", "<f4", {333, 77}, bytes_of(elements));
  for (const auto* device : {"gpu", "sim"}) {
    run_ok({"run", "map", "--expr", "x / 3 + t[0]", "--in", folder / "a.npy", "--out",
            folder / (std::string(device) + ".npy"), "--device", device});
  }
  CHECK(data_of(folder / "gpu.npy") == data_of(folder / "sim.npy"));
}
