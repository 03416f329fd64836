/// Descriptors of boxes for wgmma, decoded as PTX defines them, refer to the bytes that the copy engine
/// writes.
#include "ptx/parser.hpp"
#include "ptx/query.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <spdlog/fmt/fmt.h>

using namespace tmajit;

namespace {

struct Tile {
  std::uint32_t element_bytes;
  const char* swizzle;
  std::uint32_t span;  ///< span of the swizzle; 16 without
  bool mn_major;
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t step;  ///< number of the matrix product along K
};

std::string expression(const Tile& tile) {
  constexpr const char* types[] = {"", "u8", "u16", "", "u32"};
  return fmt::format("MatrixTile<{}, MapSwizzle::{}, Major::{}, {}, {}>::descriptor(4096, {}).bits",
                     types[tile.element_bytes], tile.swizzle, tile.mn_major ? "mn" : "k", tile.rows,
                     tile.columns, tile.step);
}

std::vector<Tile> tiles() {
  std::vector<Tile> all;
  struct Swizzle {
    const char* name;
    std::uint32_t span;
  };
  for (const Swizzle swizzle : {Swizzle{"none", 16}, {"b32", 32}, {"b64", 64}, {"b128", 128}}) {
    for (const std::uint32_t element : {1U, 2U, 4U}) {
      for (std::uint32_t step = 0; step < 5; ++step) {
        all.push_back({element, swizzle.name, swizzle.span, false, 64, swizzle.span / element, step});
      }
    }
    for (std::uint32_t step = 0; step < 4; ++step) {
      all.push_back({2, swizzle.name, swizzle.span, true, 64, swizzle.span / 2, step});
    }
  }
  return all;
}

/// The bits of each tile's descriptor, as the compiler computes them.
std::vector<std::uint64_t> descriptors(const std::vector<Tile>& all) {
  std::string text =
      "#include \"tmajit/matrix_tile.cuh\"\nusing namespace tmajit;\nextern \"C\" __global__ void k(volatile "
      "u64* "
      "out) {\n";
  for (std::size_t i = 0; i < all.size(); ++i)
    text += fmt::format("  out[{}] = {};\n", i, expression(all[i]));
  const ptx::ParseResult module = ptx::parse(compile(custom_source(text + "}\n", "k")).ptx);
  REQUIRE(module);
  std::map<std::string, std::uint64_t> constants;
  std::vector<std::uint64_t> result(all.size());
  ptx::for_each_instruction(*module.module, [&](const ptx::Instruction& instruction) {
    if (instruction.words().front() == "mov") {
      constants[instruction.operands[0].name] = instruction.operands[1].value.bits;
    } else if (instruction.words().front() == "st") {
      const ptx::Operand& value = instruction.operands[1];
      result.at(static_cast<std::size_t>(instruction.operands[0].offset) / 8) =
          value.kind == ptx::Operand::Kind::immediate ? value.value.bits : constants.at(value.name);
    }
  });
  return result;
}

/// The address, before the swizzle, at which wgmma reads a byte through a descriptor: PTX ISA, "Canonical
/// Layouts". If the matrix is K-major, the byte is one of 32 along K in row `row`. If it is MN-major, the
/// byte is one along M or N, and `row` is one of 16 indices along K.
std::uint64_t address_of_descriptor(std::uint64_t bits, bool mn_major, std::uint64_t span, std::uint64_t row,
                                    std::uint64_t byte) {
  const std::uint64_t start = (bits & 0x3fff) << 4;
  const std::uint64_t leading = (bits >> 16 & 0x3fff) << 4;
  const std::uint64_t stride = (bits >> 32 & 0x3fff) << 4;
  if (!mn_major && span == 16)
    return start + row % 8 * 16 + row / 8 * stride + byte % 16 + byte / 16 * leading;
  if (!mn_major) return start + row % 8 * span + row / 8 * stride + byte;
  if (span == 16) return start + byte % 16 + byte / 16 * stride + row % 8 * 16 + row / 8 * leading;
  return start + byte % span + byte / span * leading + row % 8 * span + row / 8 * stride;
}

/// The address of the same byte in boxes that the copy engine has written one after the other from address
/// 4096 on.
std::uint64_t address_in_boxes(const Tile& tile, std::uint32_t row, std::uint32_t byte) {
  const std::uint32_t box_bytes = tile.rows * tile.span;
  if (tile.mn_major)
    return 4096 + byte / tile.span * box_bytes + (tile.step * 16 + row) * tile.span + byte % tile.span;
  const std::uint32_t byte_along_k = tile.step * 32 + byte;
  return 4096 + byte_along_k / tile.span * box_bytes + row * tile.span + byte_along_k % tile.span;
}

}  // namespace

TEST_CASE("the descriptor of a box names the bytes that the copy engine brings") {
  const std::vector<Tile> all = tiles();
  const std::vector<std::uint64_t> found = descriptors(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Tile& tile = all[i];
    INFO(expression(tile));
    std::uint32_t wrong = 0;
    const std::uint32_t rows = tile.mn_major ? 16 : tile.rows;
    const std::uint32_t bytes = tile.mn_major ? 256 : 32;
    for (std::uint32_t row = 0; row < rows; ++row) {
      for (std::uint32_t byte = 0; byte < bytes; ++byte) {
        const bool same = address_of_descriptor(found[i], tile.mn_major, tile.span, row, byte) ==
                          address_in_boxes(tile, row, byte);
        wrong += same ? 0U : 1U;
      }
    }
    CHECK(wrong == 0);
    // The mode, and nothing in the bits that have no meaning; the base offset is 0.
    const std::uint64_t mode = tile.span == 128 ? 1 : tile.span == 64 ? 2 : tile.span == 32 ? 3 : 0;
    CHECK(found[i] >> 46 == mode << 16);
    CHECK((found[i] & 0xc000c000U) == 0);
  }
}
