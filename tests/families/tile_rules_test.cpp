#include "families/tiles.hpp"

#include <array>
#include <functional>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

TileSpec copy_kernel() {
  const auto view = dense(ElementType::f32, {1024, 1024});
  const std::array box{64U, 32U};
  return copy_spec(view, view, {.box = box, .stages = 4, .ctas_per_sm = 1});
}

TileSpec map_of_rows() {
  const std::array inputs{dense(ElementType::f32, {1024, 1024}), dense(ElementType::f16, {1024, 1024})};
  const std::array box{32U, 64U};
  return map_spec(inputs[0], "x0 + x1", inputs, {.box = box, .stages = 4, .ctas_per_sm = 1});
}

TileSpec bulk_kernel() {
  return bulk_spec(ElementType::i32, "x + 1", ElementType::i32, {.ctas_per_sm = 1});
}

TileSpec snapshot_kernel() {
  const std::array box{64U, 32U};
  return snapshot_spec(dense(ElementType::f32, {1024, 1024}), {.box = box, .ctas_per_sm = 1});
}

using Change = std::function<void(TileSpec&)>;

/// Checks that a changed spec breaks `rule` and no other rule. Returns the violation.
Violation only_violation(TileSpec spec, const char* rule, const Change& change) {
  change(spec);
  const auto violations = broken(spec);
  CAPTURE(rule, rules(violations));
  CHECK(complete(violations));
  CHECK(rules(violations) == Rules{rule});
  return find(violations, rule);
}

/// Checks that a changed spec breaks no rule.
void check_legal(TileSpec spec, const Change& change) {
  change(spec);
  CHECK(rules(broken(spec)) == Rules{});
}

}  // namespace

TEST_CASE("the specs that these tests start from break no rule") {
  for (const auto& spec : {copy_kernel(), map_of_rows(), bulk_kernel(), snapshot_kernel()}) {
    CHECK(rules(broken(spec)) == Rules{});
  }
}

TEST_CASE("counts have their ranges") {
  check_legal(copy_kernel(), [](auto& s) { s.stages = 1; });
  check_legal(copy_kernel(), [](auto& s) { s.stages = 27; });
  CHECK(only_violation(copy_kernel(), "stages.range", [](auto& s) { s.stages = 0; }).legal == "stages = 1");
  CHECK(only_violation(copy_kernel(), "stages.range", [](auto& s) { s.stages = 33, s.tile[0] = 8; }).legal ==
        "stages = 32");
  CHECK(only_violation(copy_kernel(), "warps.range", [](auto& s) { s.warps = 2; }).need ==
        "1 for a copy kernel");
  CHECK(only_violation(map_of_rows(), "warps.range", [](auto& s) { s.warps = 17; }).legal == "warps = 16");
  only_violation(map_of_rows(), "warps.range", [](auto& s) { s.warps = 0; });
  only_violation(map_of_rows(), "output-stages.range", [](auto& s) { s.output_stages = 1; });
  only_violation(map_of_rows(), "output-stages.range", [](auto& s) { s.output_stages = 9; });
  only_violation(copy_kernel(), "output-stages.range", [](auto& s) { s.output_stages = 2; });
  only_violation(copy_kernel(), "ctas-per-sm.range", [](auto& s) { s.ctas_per_sm = 0; });
  only_violation(copy_kernel(), "ctas-per-sm.range", [](auto& s) { s.ctas_per_sm = 17, s.tile[0] = 4; });
  only_violation(copy_kernel(), "inputs.range", [](auto& s) { s.inputs = 2; });
  only_violation(map_of_rows(), "inputs.range", [](auto& s) { s.inputs = 9; });
  only_violation(map_of_rows(), "inputs.range", [](auto& s) { s.inputs = 0; });
  only_violation(copy_kernel(), "rank.range", [](auto& s) { s.rank = 0; });
  only_violation(copy_kernel(), "rank.range", [](auto& s) { s.rank = 6; });
  CHECK(only_violation(bulk_kernel(), "rank.range", [](auto& s) { s.rank = 2; }).need ==
        "1 for a bulk kernel");
}

TEST_CASE("unused fields must be zero") {
  CHECK(only_violation(copy_kernel(), "unused.zero", [](auto& s) { s.tile[2] = 1; }).subject == "tile[2]");
  CHECK(only_violation(copy_kernel(), "unused.zero", [](auto& s) {
          s.operands[1].element_strides[4] = 1;
        }).subject == "input: element_strides[4]");
  CHECK(only_violation(copy_kernel(), "unused.zero", [](auto& s) {
          s.operands[5].swizzle = Swizzle::b64;
        }).subject == "operands[5]");
  check_legal(copy_kernel(), [](auto& s) { s.operands[5] = {}; });
}

TEST_CASE("a family that computes needs an expression of one printable line, other families take none") {
  const auto set = [](TileSpec& s, std::string_view text) { s.expression = text; };
  only_violation(map_of_rows(), "expression.empty", [&](auto& s) { set(s, ""); });
  only_violation(map_of_rows(), "expression.empty", [&](auto& s) { set(s, "   "); });
  const auto control =
      only_violation(map_of_rows(), "expression.characters", [&](auto& s) { set(s, "x0 +\n x1"); });
  CHECK(control.found == "character 0x0a at 4");
  only_violation(map_of_rows(), "expression.characters", [&](auto& s) { set(s, "x0\x7f"); });
  only_violation(map_of_rows(), "expression.coordinate", [&](auto& s) { set(s, "x0 + g[7]"); });
  only_violation(map_of_rows(), "expression.coordinate", [&](auto& s) { set(s, "x0 + t[-1]"); });
  check_legal(map_of_rows(), [&](auto& s) { set(s, "x0 /* ä */"); });
  only_violation(copy_kernel(), "expression.none", [&](auto& s) { set(s, "x"); });
  only_violation(map_of_rows(), "expression.characters",
                 [&](auto& s) { set(s, std::string_view("x0\0x1", 5)); });
  check_legal(map_of_rows(), [](auto& s) { s.expression = std::string(max_expression, 'x'); });
  only_violation(map_of_rows(), "expression.length",
                 [](auto& s) { s.expression = std::string(max_expression + 1, 'x'); });
}

TEST_CASE("a tile must meet the rules of each operand's tensor map, and violations name the operand") {
  CHECK(only_violation(copy_kernel(), "box.range", [](auto& s) {
          s.operands[1].element_strides[0] = 5;
        }).subject == "input: box[0]");
  const auto odd = only_violation(map_of_rows(), "box.inner-bytes", [](auto& s) { s.tile[1] = 60; });
  CHECK(odd.subject == "input 1: box[1]");
  CHECK(odd.found == "120 bytes (60 × f16)");
  CHECK(odd.legal == "box[1] = 64");
  const auto wide =
      only_violation(map_of_rows(), "box.swizzle", [](auto& s) { s.operands[1].swizzle = Swizzle::b128; });
  CHECK(wide.subject == "input 0: box[1]");
  check_legal(map_of_rows(), [](auto& s) { s.operands[2].swizzle = Swizzle::b128; });
  CHECK(only_violation(map_of_rows(), "box.swizzle", [](auto& s) {
          s.output().swizzle = Swizzle::b64;
        }).subject == "output: box[1]");
  CHECK(only_violation(map_of_rows(), "type.known", [](auto& s) {
          s.output().type = static_cast<ElementType>(99);
        }).subject == "output: type");
  only_violation(map_of_rows(), "element-strides.innermost",
                 [](auto& s) { s.operands[2].element_strides[1] = 2; });
  only_violation(map_of_rows(), "element-strides.range",
                 [](auto& s) { s.operands[2].element_strides[0] = 9, s.tile[0] = 16; });
  only_violation(map_of_rows(), "element-strides.output", [](auto& s) { s.output().element_strides[0] = 2; });
}

TEST_CASE("bulk chunks are multiples of 16 bytes and not swizzled") {
  check_legal(bulk_kernel(), [](auto& s) { s.tile[0] = 4; });
  auto spec = bulk_kernel();
  spec.tile[0] = 1001;
  const auto violations = broken(spec);
  CHECK(rules(violations) == Rules{"chunk.bytes", "chunk.bytes"});  // one for the input, one for the output
  CHECK(violations[0].legal == "tile[0] = 1004");
  only_violation(bulk_kernel(), "swizzle.bulk", [](auto& s) { s.operands[1].swizzle = Swizzle::b32; });
  only_violation(bulk_kernel(), "element-strides.innermost",
                 [](auto& s) { s.operands[1].element_strides[0] = 2; });
}

TEST_CASE("a copy needs the same bits per element and the same swizzle in source and destination") {
  check_legal(copy_kernel(), [](auto& s) { s.operands[1].type = ElementType::tf32; });
  check_legal(copy_kernel(),
              [](auto& s) { s.operands[1].type = ElementType::i32, s.output().type = ElementType::u32; });
  const auto type =
      only_violation(copy_kernel(), "copy.type", [](auto& s) { s.output().type = ElementType::i32; });
  CHECK_THAT(type.legal, ContainsSubstring("map kernel"));
  only_violation(copy_kernel(), "copy.swizzle", [](auto& s) { s.operands[1].swizzle = Swizzle::b128; });
  only_violation(snapshot_kernel(), "snapshot.output", [](auto& s) { s.output().type = ElementType::f32; });
}

TEST_CASE("no tile family takes an interleaved layout") {
  const auto view = dense(ElementType::f16, {16, 32, 32, 16});
  const std::array box{1U, 8U, 8U, 16U};
  const TileOptions options{.box = box, .swizzle = Swizzle::b32, .interleave = Interleave::b32};
  CHECK(rules(broken(snapshot_spec(view, options))) == Rules{"interleave.unsupported"});
  for (const auto& spec : {copy_spec(view, view, options), map_spec(view, "x", {view}, options)}) {
    const auto violations = broken(spec);
    CHECK(rules(violations) == Rules{"interleave.unsupported", "interleave.unsupported"});
    CHECK(complete(violations));
  }
}

TEST_CASE("a CTA has at most 227 KiB of shared memory, and a violation names what would fit") {
  check_legal(copy_kernel(), [](auto& s) { s.stages = 28; });
  const auto stages = only_violation(copy_kernel(), "shared.cta", [](auto& s) { s.stages = 29; });
  CHECK(stages.legal == "stages = 28");
  CHECK(stages.found == "239056 bytes a CTA, 6608 too many");
  const auto tile = only_violation(map_of_rows(), "shared.cta", [](auto& s) { s.tile = {256, 128}; });
  CHECK(tile.legal == "a tile of 64x128 with stages = 2");
}

TEST_CASE("ctas_per_sm CTAs must fit into an SM's shared memory and threads") {
  const auto shared =
      only_violation(copy_kernel(), "shared.sm", [](auto& s) { s.stages = 14, s.ctas_per_sm = 2; });
  CHECK(shared.legal == "ctas_per_sm = 1, or stages = 13");
  check_legal(copy_kernel(), [](auto& s) { s.stages = 13, s.ctas_per_sm = 2; });
  const auto threads = only_violation(map_of_rows(), "threads.sm",
                                      [](auto& s) { s.tile[0] = 2, s.warps = 16, s.ctas_per_sm = 4; });
  CHECK(threads.legal == "ctas_per_sm = 3");
  check_legal(map_of_rows(), [](auto& s) { s.tile[0] = 2, s.warps = 15, s.ctas_per_sm = 4; });
}

TEST_CASE("a stage's bytes must fit the transaction count of an mbarrier") {
  auto spec = bulk_kernel();
  spec.tile[0] = 1U << 18;
  CHECK(find(broken(spec), "stage.transaction-bytes").found == "1048576 bytes loaded a stage");
  spec.tile[0] = (1U << 18) - 4;
  CHECK(find(broken(spec), "stage.transaction-bytes").rule.empty());
}

TEST_CASE("suggestions for shared memory are legal themselves") {
  const auto stages = GENERATE(2, 5, 32);
  auto spec = map_of_rows();
  spec.tile = {256, 256};
  spec.stages = static_cast<std::uint8_t>(stages);
  const auto legal_text = find(broken(spec), "shared.cta").legal;
  unsigned rows = 0;
  unsigned columns = 0;
  unsigned depth = 0;
  REQUIRE(std::sscanf(legal_text.c_str(), "a tile of %ux%u with stages = %u", &rows, &columns, &depth) == 3);
  spec.tile = {rows, columns};
  spec.stages = static_cast<std::uint8_t>(depth);
  CHECK(rules(broken(spec)) == Rules{});
}
