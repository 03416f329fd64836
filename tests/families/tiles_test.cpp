// plan_tiles() and related functions, through the public interface.
#include "families/tiles.hpp"

#include "spec/rules.hpp"

#include <tmajit/tiles.hpp>
#include <tmajit/validate.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

constexpr DevicePtr in_at = 0x7f00'0000'0000;
constexpr DevicePtr out_at = 0x7f80'0000'0000;

/// A legal request for a kernel of a tile family.
TileRequest request_of(const FamilyInfo& family) {
  const auto view = family.flat ? dense(ElementType::f32, {4096}) : dense(ElementType::f32, {64, 64});
  TileRequest request{.family = family.name, .destination = {view, out_at}, .sources = {{view, in_at}}};
  if (family.computes) request.expression = "x + 1";
  if (family.writes_images) request.destination.view = destination_view(request);
  return request;
}

std::vector<FamilyInfo> tile_family_infos() {
  std::vector<FamilyInfo> found;
  for (const FamilyInfo& family : families()) {
    if (family.does("tiles")) found.push_back(family);
  }
  return found;
}

Rules rules_broken_by(const TileRequest& request) {
  const auto violations = validate(request);
  CHECK(complete(violations));
  return rules(violations);
}

}  // namespace

TEST_CASE("family names are unique, and find_family() finds each of them") {
  std::set<std::string_view> names;
  for (const FamilyInfo& family : families()) {
    CAPTURE(family.name);
    CHECK(names.insert(family.name).second);
    CHECK(!family.summary.empty());
    CHECK(find_family(family.name).name == family.name);
  }
  CHECK(names.size() == families().size());
  CHECK_THROWS_MATCHES(find_family("nonsense"), Error,
                       MessageMatches(ContainsSubstring("nonsense") && ContainsSubstring("transpose") &&
                                      ContainsSubstring("snapshot")));
}

TEST_CASE("a plan of every tile family describes its kernel, launch and parameters") {
  for (const FamilyInfo& family : tile_family_infos()) {
    CAPTURE(family.name);
    const TileRequest request = request_of(family);
    CHECK(rules_broken_by(request) == Rules{});
    const KernelPlan plan = plan_tiles(request);
    CHECK(plan.family().name == family.name);
    CHECK(plan.expression() == request.expression);
    CHECK(plan.choice().family == family.name);
    CHECK_FALSE(plan.why().empty());
    CHECK(plan.predicted_us() > 0);
    CHECK_FALSE(plan.tuned());
    CHECK(plan.operand_address(0) == out_at);
    CHECK(plan.operand_address(1) == in_at);
    CHECK(plan.bytes_read() == 64ULL * 64 * 4);

    const KernelShape shape = plan.shape();
    CHECK(shape.tile.size() == request.sources[0].view.rank);
    CHECK(shape.threads == plan.launch_shape().block[0]);
    CHECK(shape.dynamic_shared_bytes == plan.launch_shape().shared_bytes);
    CHECK(shape.tiles >= plan.launch_shape().grid[0]);
    CHECK(shape.ctas_per_sm >= plan.choice().number("ctas_per_sm"));
    CHECK(shape.bytes_in_flight > 0);

    // Parameters do not overlap. A parameter has a map if and only if it is the map of a tensor.
    std::uint32_t end = 0;
    for (const Parameter& parameter : plan.parameters()) {
      CAPTURE(parameter.name);
      CHECK(parameter.offset >= end);
      end = parameter.offset + parameter.bytes;
      CHECK(parameter.map.has_value() == (parameter.map_of >= 0));
      CHECK(parameter.type.ends_with("TensorMap") == parameter.map.has_value());
      if (!parameter.map) continue;
      CHECK(parameter.bytes == 128);
      CHECK(parameter.offset % 64 == 0);
      CHECK(validate(*parameter.map, plan.operand_address(static_cast<std::uint32_t>(parameter.map_of)))
                .empty());
    }
    CHECK(plan.parameter_bytes().size() >= end);
  }
}

TEST_CASE("a kernel's key depends on all its facts, but not on the tensors' addresses and sizes") {
  for (const FamilyInfo& family : tile_family_infos()) {
    CAPTURE(family.name);
    const TileRequest request = request_of(family);
    const KernelPlan plan = plan_tiles(request);
    const auto key = [](const TileRequest& other) { return std::string(plan_tiles(other).key()); };
    CHECK(plan.key() == key(request));

    TileRequest elsewhere = request;
    elsewhere.sources[0].address += 4096;
    CHECK(plan.key() == key(elsewhere));

    TileRequest promoted = request;
    promoted.tiles.l2_promotion = L2Promotion::b256;
    CHECK(plan.key() == key(promoted));

    TileRequest deeper = request;
    deeper.tiles.stages = plan.choice().number("stages") + 1;
    deeper.tiles.ctas_per_sm = 1;
    TileRequest same = deeper;
    same.tiles.stages = plan.choice().number("stages");
    CHECK(key(same) != key(deeper));

    if (!family.computes) continue;
    TileRequest other = request;
    other.expression = "x + 2";
    CHECK(plan.key() != key(other));
  }
}

TEST_CASE("L2 promotion is set in all tensor maps, out-of-bounds fill only in those of sources") {
  TileRequest request = request_of(find_family("copy"));
  request.tiles.l2_promotion = L2Promotion::b128;
  request.tiles.oob_fill = OobFill::nan;
  for (const Parameter& parameter : plan_tiles(request).parameters()) {
    if (!parameter.map) continue;
    CHECK(parameter.map->l2_promotion == L2Promotion::b128);
    CHECK(parameter.map->oob_fill == (parameter.map_of == 0 ? OobFill::zero : OobFill::nan));
  }
  request.sources[0].view.type = request.destination.view.type = ElementType::i32;
  CHECK(rules_broken_by(request) == Rules{"oob-fill.type"});
}

TEST_CASE("a persistent grid fills the chip's SMs and no more") {
  const auto view = dense(ElementType::f32, {1000, 400});
  const std::array<std::uint32_t, 2> box{8, 32};
  TileRequest request{.destination = {view},
                      .sources = {{view}},
                      .tiles = {.box = box, .ctas_per_sm = 2, .tiles_per_cta = 0}};
  request.chip.sm_count = 100;
  CHECK(plan_tiles(request).launch_shape().grid[0] == 200);
  const auto small = dense(ElementType::f32, {65, 32});
  request.destination.view = request.sources[0].view = small;
  CHECK(plan_tiles(request).launch_shape().grid[0] == 9);
}

TEST_CASE("a grid has at most 2^31 tiles unless it is persistent") {
  constexpr std::array<std::uint32_t, 2> box{1, 16};
  const auto view = dense(ElementType::u8, {1 << 19, std::int64_t{16} << 12});
  TileRequest request{.family = "copy", .destination = {view, out_at}, .sources = {{view, in_at}}};
  request.tiles.box = box;
  request.tiles.tiles_per_cta = 4;
  CHECK(plan_tiles(request).launch_shape().grid[0] == 1U << 29);  // 2^31 tiles

  const auto larger = dense(ElementType::u8, {(1 << 19) + 1, std::int64_t{16} << 12});
  request.destination.view = larger;
  request.sources.front().view = larger;
  CHECK_THROWS_MATCHES(
      plan_tiles(request), Error,
      MessageMatches(ContainsSubstring("2147487744 tiles; at most 2^31") && ContainsSubstring("persistent")));
  request.tiles.tiles_per_cta = 0;
  CHECK_NOTHROW(plan_tiles(request));
}

TEST_CASE("the error of an illegal request lists all broken rules") {
  TileRequest request = request_of(find_family("map"));
  const std::array<std::uint32_t, 2> box{16, 3};
  request.tiles.box = box;
  request.tiles.stages = 40;
  request.expression = " ";
  const Rules expected = rules_broken_by(request);
  CHECK(std::ranges::count(expected, "box.inner-bytes") == 2);
  CHECK(std::ranges::count(expected, "stages.range") == 1);
  CHECK(std::ranges::count(expected, "expression.empty") == 1);
  try {
    static_cast<void>(plan_tiles(request));
    FAIL("not refused");
  } catch (const SpecError& error) {
    CHECK(error.code() == ErrorCode::illegal_spec);
    CHECK(rules(error.violations()) == expected);
  }
}

TEST_CASE("a request with an unknown family or a wrong number of inputs is an error without rules") {
  const auto says = [](const char* text) { return MessageMatches(ContainsSubstring(text)); };
  const TileRequest copy = request_of(find_family("copy"));
  TileRequest request = copy;
  request.family = "transpose";
  CHECK_THROWS_MATCHES(plan_tiles(request), Error,
                       says("\"transpose\"") && says("copy, reduce_into, map, bulk, snapshot"));
  CHECK_THROWS_MATCHES(validate(request), Error, says("copy, reduce_into, map, bulk, snapshot"));
  request = copy;
  request.sources.push_back(request.sources[0]);
  CHECK_THROWS_MATCHES(plan_tiles(request), Error, says("2 inputs; one is possible"));
  request.sources.clear();
  CHECK_THROWS_MATCHES(plan_tiles(request), Error, says("0 inputs"));
  CHECK_THROWS_AS(destination_view(request), Error);
  request = copy;
  request.destination.view = dense(ElementType::f32, {64});
  CHECK_THROWS_MATCHES(validate(request), Error, says("must agree"));
}

TEST_CASE("every tile family refuses interleaved layouts") {
  for (const FamilyInfo& family : tile_family_infos()) {
    CAPTURE(family.name);
    TileRequest request = request_of(family);
    request.tiles.interleave = Interleave::b16;
    const Rules found = rules_broken_by(request);
    CHECK(std::ranges::count(found, "interleave.unsupported") > 0);
  }
}

TEST_CASE("an unknown type gives one violation for each operand") {
  TileRequest request = request_of(find_family("copy"));
  request.sources[0].view.type = request.destination.view.type = static_cast<ElementType>(99);
  CHECK(rules_broken_by(request) == Rules{"type.known", "type.known"});
}

TEST_CASE("addresses must be multiples of 16 bytes, in the family bulk only of the element size") {
  for (const FamilyInfo& family : tile_family_infos()) {
    CAPTURE(family.name);
    TileRequest request = request_of(family);
    request.sources[0].address = in_at + 4;
    CHECK(rules_broken_by(request) == (family.flat ? Rules{} : Rules{"address.alignment"}));
    request.sources[0].address = in_at + 2;
    CHECK(rules_broken_by(request) == Rules{"address.alignment"});
    request.sources[0].address = in_at;
    request.destination.address = out_at + 8;
    CHECK(rules_broken_by(request) == (family.flat ? Rules{} : Rules{"address.alignment"}));
    CHECK(validate(request).empty() == family.flat);
    request.destination.address = 0;  // any address
    CHECK(rules_broken_by(request) == Rules{});
  }
}

TEST_CASE("the destination may not share a byte with a source") {
  TileRequest request = request_of(find_family("copy"));
  CHECK(rules_broken_by(request) == Rules{});
  request.destination.address = in_at + 64ULL * 64 * 4 - 16;
  CHECK(rules_broken_by(request) == Rules{"memory.overlap"});
  request.destination.address = in_at + 64ULL * 64 * 4;
  CHECK(rules_broken_by(request) == Rules{});

  // The left half of the columns is copied to the right half: the address ranges overlap, but no byte is
  // shared.
  const auto half = TensorView::strided(ElementType::f32, {256, 64}, {128, 1});
  request.sources = {{half, in_at}};
  request.destination = {half, in_at + 64ULL * 4};
  CHECK(rules_broken_by(request) == Rules{});
  request.destination.address -= 16;
  CHECK(rules_broken_by(request) == Rules{"memory.overlap"});
}

TEST_CASE("only families that compute element by element work in place, and only on the same elements") {
  for (const FamilyInfo& family : tile_family_infos()) {
    if (family.writes_images) continue;
    CAPTURE(family.name);
    TileRequest request = request_of(family);
    request.destination.address = in_at;
    CHECK(rules_broken_by(request) == (family.computes ? Rules{} : Rules{"memory.overlap"}));
    request.destination.address = in_at + 256;
    CHECK(rules_broken_by(request) == Rules{"memory.overlap"});
  }
}

TEST_CASE("an output with several indices of one element is refused, such an input is not") {
  TileRequest request = request_of(find_family("copy"));
  request.sources[0].view.strides[0] = 0;
  CHECK(rules_broken_by(request) == Rules{});
  request = request_of(find_family("copy"));
  request.destination.view.strides[0] = 32;
  CHECK(rules_broken_by(request) == Rules{"view.overlap"});

  // The rule is exact: interleaved strides that share no byte are legal.
  const auto interleaved = TensorView::strided(ElementType::f32, {2, 3, 8}, {8, 16, 1});
  request.destination.view = interleaved;
  request.sources[0].view = dense(ElementType::f32, {2, 3, 8});
  CHECK(rules_broken_by(request) == Rules{});
}

TEST_CASE("destination_view() derives the destination's shape and type from the sources") {
  const std::array steps{4U, 1U};
  TileRequest request{.family = "copy",
                      .destination = {dense(ElementType::f16, {1, 1})},
                      .sources = {{dense(ElementType::f16, {101, 256})}},
                      .tiles = {.element_strides = steps}};
  CHECK(destination_view(request) == dense(ElementType::f16, {26, 256}));
  request.destination = {};  // its type f32 is ignored: a copy keeps its source's type
  CHECK(destination_view(request) == dense(ElementType::f16, {26, 256}));

  const std::array box{4U, 16U};
  request = {.family = "snapshot",
             .sources = {{dense(ElementType::f32, {10, 40})}},
             .tiles = {.box = box, .swizzle = Swizzle::b128}};
  CHECK(destination_view(request) == dense(ElementType::u8, {9, 4 * 128}));

  request = {.family = "map",
             .destination = {dense(ElementType::bf16, {1})},
             .sources = {{dense(ElementType::f32, {10, 40})}},
             .expression = "x"};
  CHECK(destination_view(request) == dense(ElementType::bf16, {10, 40}));
  request.family = "bulk";
  request.sources[0].view = dense(ElementType::f32, {10});
  CHECK(destination_view(request) == dense(ElementType::bf16, {10}));
}
