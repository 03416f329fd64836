#include "codegen/plans.hpp"
#include "reference/random.hpp"
#include "seed.hpp"
#include "tiles/tile_spec.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>
#include <tmajit/plan.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A problem over [64, 64] in tiles of [16, 32], which tests modify.
TileRequest map_request() {
  static constexpr std::array<std::uint32_t, 2> box{16, 32};
  const auto view = TensorView::contiguous(ElementType::f32, {64, 64});
  return {.family = "map",
          .destination = {view},
          .sources = {{view}},
          .expression = "x",
          .tiles = {.box = box, .stages = 2}};
}

}  // namespace

TEST_CASE("the same plan gives the same text, whose entry is named by the family") {
  for (const auto& [name, plan] : tests::one_of_each_family()) {
    CAPTURE(name);
    const Source one = source(plan);
    CHECK(source(plan).text == one.text);
    CHECK(one.entry == "tmajit_" + std::string(plan.family().name));
    // A kernel of several steps has the expression of each in place of one expression.
    CHECK((one.expression == plan.expression() || (one.expression.empty() && !one.steps.empty())));
    CHECK_THAT(one.text, ContainsSubstring("extern \"C\" __global__") && ContainsSubstring(one.entry + "("));
  }
}

TEST_CASE("the first lines say what the kernel does, how, and where to begin reading") {
  for (const auto& [name, plan] : tests::one_of_each_family()) {
    CAPTURE(name);
    const std::string text = source(plan).text;
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    std::string head;
    for (std::size_t i = 0; i < lines.size() && lines[i].starts_with("//"); ++i) head += lines[i].substr(2);
    CHECK_THAT(head, ContainsSubstring("tmajit_" + std::string(plan.family().name)));
    CHECK_THAT(head, ContainsSubstring(TMAJIT_VERSION_STRING));
    const std::string mark = "Begin reading at line ";
    REQUIRE(head.find(mark) != std::string::npos);
    const auto begin = std::stoul(head.substr(head.find(mark) + mark.size()));
    REQUIRE(begin <= lines.size());
    CHECK_THAT(lines[begin - 1], ContainsSubstring(std::string(plan.family().name)));
  }
}

TEST_CASE("the entry takes the plan's parameters, in order") {
  for (const auto& [name, plan] : tests::one_of_each_family()) {
    CAPTURE(name);
    const Source one = source(plan);
    const std::size_t entry = one.text.rfind(one.entry + "(");
    REQUIRE(entry != std::string::npos);
    std::size_t at = entry;
    for (const Parameter& parameter : plan.parameters()) {
      CAPTURE(parameter.name);
      const std::size_t next = one.text.find(" " + parameter.name, at + 1);
      REQUIRE(next != std::string::npos);
      CHECK(next > at);
      at = next;
    }
    CHECK(at < one.text.find(") {", entry));
  }
}

TEST_CASE("every fact of a kernel of tiles reaches the text") {
  const KernelPlan base = plan_tiles(map_request());
  // A new fact must be added here, and to tile_source().
  [[maybe_unused]] const auto& [rank, inputs, stages, output_stages, warps, ctas_per_sm, tiles_per_cta,
                                row_tails, numbers, number_types, tile, operands, combine] = TileFacts{};

  static constexpr std::array<std::uint32_t, 2> other_tile{8, 32};
  static constexpr std::array<std::uint32_t, 2> narrow_tile{8, 16};
  static constexpr std::array<std::uint32_t, 2> thinned_box{16, 16};
  static constexpr std::array<std::uint32_t, 2> thinned{2, 1};
  const auto view = [](ElementType type, const std::vector<std::uint64_t>& shape) {
    return TensorView::contiguous(type, shape);
  };
  const std::vector<std::pair<const char*, std::function<void(TileRequest&)>>> changes{
      {"family", [](TileRequest& r) { r.family = "copy", r.expression = {}; }},
      {"rank",
       [&](TileRequest& r) {
         r.tiles.box = {};
         r.destination.view = r.sources[0].view = view(ElementType::f32, {4, 64, 64});
       }},
      {"inputs", [](TileRequest& r) { r.sources.push_back(r.sources[0]), r.expression = "x0"; }},
      {"numbers", [](TileRequest& r) { r.sources.push_back(number(2.0F)); }},
      {"number_types", [](TileRequest& r) { r.sources.push_back(number(2)); }},
      {"stages", [](TileRequest& r) { r.tiles.stages = 3; }},
      {"output_stages", [](TileRequest& r) { r.tiles.output_stages = 3; }},
      {"warps", [](TileRequest& r) { r.tiles.warps = 5; }},
      {"ctas_per_sm", [](TileRequest& r) { r.tiles.ctas_per_sm = 3; }},
      {"tiles_per_cta", [](TileRequest& r) { r.tiles.tiles_per_cta = 7; }},
      {"row_tails", [](TileRequest& r) { r.destination.view.shape[1] = r.sources[0].view.shape[1] = 63; }},
      {"tile", [](TileRequest& r) { r.tiles.box = other_tile; }},
      {"type",
       [&](TileRequest& r) {
         r.sources[0].view = view(ElementType::i32, {64, 64});
       }},
      {"output type",
       [&](TileRequest& r) {
         r.destination.view = view(ElementType::u32, {64, 64});
       }},
      {"swizzle", [](TileRequest& r) { r.tiles.box = narrow_tile, r.tiles.swizzle = Swizzle::b64; }},
      {"element strides",
       [&](TileRequest& r) {
         r.tiles.box = thinned_box;
         r.tiles.element_strides = thinned;
         r.sources[0].view = view(ElementType::f32, {128, 64});
       }},
      {"expression", [](TileRequest& r) { r.expression = "1"; }},
  };
  TileRequest combining = map_request();
  combining.family = "reduce_into";
  combining.expression = {};
  const KernelPlan added = plan_tiles(combining);
  combining.combine = CombineOp::bit_xor;
  CHECK(plan_tiles(combining).key() != added.key());
  CHECK(source(plan_tiles(combining)).text != source(added).text);
  for (const auto& [what, change] : changes) {
    INFO(what);
    TileRequest changed = map_request();
    change(changed);
    const KernelPlan plan = plan_tiles(changed);
    CHECK(plan.key() != base.key());
    CHECK(source(plan).text != source(base).text);
  }
}

TEST_CASE("a source has code for the ends of rows only where the engine cannot store them") {
  for (const FamilyInfo& family : tests::tile_families()) {
    if (family.flat || family.writes_images) continue;
    CAPTURE(family.name);
    const auto takes_tail = [&](bool tails) {
      const KernelPlan plan = tests::small_plan(family, 2, Swizzle::none, ElementType::f32, tails);
      const auto parameters = plan.parameters();
      const bool parameter = std::ranges::any_of(
          parameters, [](const Parameter& p) { return p.type.find("RowTail") != std::string::npos; });
      const bool text = source(plan).text.find("RowTail<2>") != std::string::npos;
      CHECK(parameter == text);
      return parameter;
    };
    CHECK(takes_tail(true));
    CHECK_FALSE(takes_tail(false));
  }
}

TEST_CASE("64 lengths of a softmax's rows share at most 4 kernels if they are multiples of 8, and 8 if not") {
  reference::Random random(tests::seed(20261127));
  for (const std::uint64_t multiple : {1, 8}) {
    std::set<std::string> texts;
    for (int n = 0; n < 64; ++n) {
      const auto length =
          static_cast<std::int64_t>(multiple * reference::between(random, 1, 8192 / multiple));
      const TensorView rows = TensorView::contiguous(ElementType::bf16, {512, length});
      const auto plans = plan_kernels(operation::rowwise(
          {Tensor(rows, 1 << 20)}, {.steps = "m = max(x); e = expf(x - m); r = 1.0f / sum(e); y = e * r"},
          {Tensor(rows, 1 << 30)}));
      REQUIRE(plans.size() == 1);
      texts.insert(source(plans.front()).text);
    }
    INFO("multiples of " << multiple);
    CHECK(texts.size() <= (multiple == 1 ? 8 : 4));
  }
}

TEST_CASE("the expression stands alone on line 1 of its own file") {
  const Source made = source(tests::map_plan("x * 2 + 1", {ElementType::f32, ElementType::f32}));
  CHECK(made.expression == "x * 2 + 1");
  CHECK_THAT(made.text, ContainsSubstring("#line 1 \"expression\"\nx * 2 + 1\n#line "));

  // The #line after it numbers the text itself again.
  const std::size_t directive = made.text.find("\n#line ", made.text.find("expression\"\n")) + 1;
  const auto number = std::stoul(made.text.substr(directive + 6));
  const auto lines_through_directive =
      static_cast<unsigned long>(
          std::count(made.text.begin(), made.text.begin() + static_cast<long>(directive), '\n')) +
      1;
  CHECK(number == lines_through_directive + 1);
}

TEST_CASE("a generated text has no #include, no directive and no copies of other ranks") {
  for (const auto& [name, plan] : tests::broad_plans()) {
    const std::string text = source(plan).text;
    CAPTURE(name);
    CHECK(text.find("#include") == std::string::npos);
    CHECK(text.find("#pragma once") == std::string::npos);
    CHECK(text.find("//@") == std::string::npos);
    std::set<std::uint32_t> ranks;  // of its maps
    for (const Parameter& parameter : plan.parameters()) {
      if (parameter.map) ranks.insert(parameter.map->rank);
    }
    for (std::uint32_t other = 1; other <= max_map_rank; ++other) {
      const bool holds = text.find("bulk.tensor." + std::to_string(other) + "d") != std::string::npos;
      CHECK(holds == ranks.contains(other));
    }
  }
}

TEST_CASE("a generated text is short, and has no coordinates where the expression reads none") {
  const auto text_of = [](std::string_view expression) {
    const auto view = TensorView::contiguous(ElementType::f32, {16384, 16384});
    const std::array<std::uint32_t, 2> box{32, 32};
    return source(plan_tiles({.family = "map",
                              .destination = {view},
                              .sources = {{view}},
                              .expression = expression,
                              .tiles = {.box = box, .swizzle = Swizzle::b128}}))
        .text;
  };
  const std::string silu = text_of("x / (1 + expf(-x))");
  CHECK(std::count(silu.begin(), silu.end(), '\n') <= 460);
  CHECK_THAT(silu, ContainsSubstring("evaluate(const float x)") && !ContainsSubstring("Coordinate "));
  CHECK_THAT(silu,
             !ContainsSubstring("//@") && !ContainsSubstring("cache_hint") && !ContainsSubstring("bf16"));

  const std::string all = text_of("x0 + g[0] * t[1] + tile_index");
  CHECK_THAT(all, ContainsSubstring("evaluate(const Coordinate (&g)[2], const u32 (&t)[2], u32 tile_index, "
                                    "const float x)"));
}

TEST_CASE("expressions see inputs, coordinates and functions") {
  for (const char* expression : {"x", "x0", "-x", "x > 0 ? x : 0", "fmaxf(x, 0.0f)", "x * 1.5", "g[0] + g[1]",
                                 "t[0] * t[1] + tile_index", "sinf(x) + expf(-x)", "x == x0", "(x, 3)",
                                 "rsqrtf(x)", "__float_as_uint(x)"}) {
    INFO(expression);
    CHECK_NOTHROW(compile(source(tests::map_plan(expression, {ElementType::f32, ElementType::f32}))));
  }
  CHECK_NOTHROW(compile(source(tests::map_plan("x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7",
                                               std::vector<ElementType>(9, ElementType::bf16)))));
}

TEST_CASE("every pair of types converts") {
  for (const ElementType from : all_element_types) {
    for (const ElementType to : {ElementType::u8, ElementType::i64, ElementType::bf16, ElementType::f64,
                                 ElementType::tf32, ElementType::e5m2}) {
      INFO(name(from) << " to " << name(to));
      const Artifact artifact = compile(source(tests::map_plan("x", {from, to})));
      CHECK(artifact.resources.spill_store_bytes == 0);
    }
  }
}
