#include "codegen/specs.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>

#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

KernelSpec map_of(std::string_view expression, std::vector<ElementType> types) {
  const std::array<std::uint64_t, 2> shape{64, 64};
  std::vector<TensorView> views;
  for (const ElementType type : types) views.push_back(TensorView::contiguous(type, shape));
  const std::array<std::uint32_t, 2> box{16, 32};
  return map_spec(expression, std::span(views).first(views.size() - 1), views.back(),
                  {.box = box, .stages = 2});
}

}  // namespace

TEST_CASE("the same spec gives the same text") {
  for (const Family family : all_families) {
    const auto spec = small_spec(family, family == Family::bulk ? 1 : 3, Swizzle::none, ElementType::f32);
    CHECK(generate(spec).text == generate(spec).text);
    CHECK(generate(spec).entry == "tmajit_" + std::string(name(family)));
  }
}

TEST_CASE("every field of a spec reaches the text") {
  const KernelSpec base = map_of("x", {ElementType::f32, ElementType::f32});
  // A new field must be added here, and to the prelude.
  const auto& [family, rank, inputs, stages, output_stages, warps, ctas_per_sm, tiles_per_cta, tile, reserved,
               operands, expression] = base;
  static_cast<void>(reserved);

  const std::vector<std::pair<const char*, std::function<void(KernelSpec&)>>> changes{
      {"family",
       [](KernelSpec& s) { s.family = Family::copy, s.expression = {}, s.warps = 1, s.output_stages = 0; }},
      {"rank", [](KernelSpec& s) { s = small_spec(Family::map, 3, Swizzle::none, ElementType::f32); }},
      {"inputs",
       [](KernelSpec& s) {
         s = map_of("x0", {ElementType::f32, ElementType::f32, ElementType::f32});
       }},
      {"stages", [](KernelSpec& s) { s.stages = static_cast<std::uint8_t>(s.stages + 1); }},
      {"output_stages", [](KernelSpec& s) { s.output_stages = 3; }},
      {"warps", [](KernelSpec& s) { s.warps = 5; }},
      {"ctas_per_sm",
       [](KernelSpec& s) {
         s.tile = {8, 32}, s.ctas_per_sm = 3;
       }},
      {"tiles_per_cta", [](KernelSpec& s) { s.tiles_per_cta = s.tiles_per_cta == 7 ? 8 : 7; }},
      {"tile", [](KernelSpec& s) { s.tile[0] = 4; }},
      {"type", [](KernelSpec& s) { s.operands[0].type = ElementType::i32; }},
      {"output type", [](KernelSpec& s) { s.operands[1].type = ElementType::u32; }},
      {"swizzle",
       [](KernelSpec& s) {
         s.tile = {8, 16}, s.operands[0].swizzle = Swizzle::b64;
       }},
      {"element strides",
       [](KernelSpec& s) {
         s.tile = {8, 16}, s.operands[0].element_strides[0] = 2;
       }},
      {"expression", [](KernelSpec& s) { s.expression[0] = '1'; }},
  };
  for (const auto& [what, change] : changes) {
    INFO(what);
    KernelSpec changed = base;
    change(changed);
    CHECK(generate(changed).text != generate(base).text);
  }
}

TEST_CASE("interleaved layouts are refused: kernels count elements, the copy engine slices") {
  KernelSpec spec = small_spec(Family::copy, 3, Swizzle::none, ElementType::f16);
  spec.operands[0].interleave = Interleave::b16;
  CHECK_THROWS_AS(generate(spec), SpecError);
}

TEST_CASE("the expression stands alone on line 1 of its own file") {
  const Source source = generate(map_of("x * 2 + 1", {ElementType::f32, ElementType::f32}));
  CHECK(source.expression == "x * 2 + 1");
  CHECK_THAT(source.text, ContainsSubstring("#line 1 \"expression\"\nx * 2 + 1\n#line "));

  // The #line after it numbers the text itself again.
  const std::size_t directive = source.text.find("\n#line ", source.text.find("expression\"\n")) + 1;
  const auto number = std::stoul(source.text.substr(directive + 6));
  const auto lines_through_directive =
      static_cast<unsigned long>(
          std::count(source.text.begin(), source.text.begin() + static_cast<long>(directive), '\n')) +
      1;
  CHECK(number == lines_through_directive + 1);
}

TEST_CASE("a generated text includes nothing and holds only what its rank needs") {
  for (std::uint32_t rank = 1; rank <= max_map_rank; ++rank) {
    const std::string text = generate(small_spec(Family::copy, rank, Swizzle::b128, ElementType::bf16)).text;
    CHECK(text.find("#include") == std::string::npos);
    CHECK(text.find("#pragma once") == std::string::npos);
    for (std::uint32_t other = 1; other <= max_map_rank; ++other) {
      const bool holds = text.find("bulk.tensor." + std::to_string(other) + "d") != std::string::npos;
      CHECK(holds == (other == rank));
    }
  }
}

TEST_CASE("an illegal spec is refused with every rule it breaks") {
  KernelSpec spec = small_spec(Family::copy, 2, Swizzle::none, ElementType::f32);
  spec.tile[1] = 3;
  spec.stages = 0;
  try {
    static_cast<void>(generate(spec));
    FAIL("not refused");
  } catch (const SpecError& error) {
    CHECK(error.violations().size() >= 2);
    CHECK(error.code() == ErrorCode::illegal_spec);
  }
}

TEST_CASE("expressions see inputs, coordinates and functions") {
  for (const char* expression : {"x", "x0", "-x", "x > 0 ? x : 0", "fmaxf(x, 0.0f)", "x * 1.5", "g[0] + g[1]",
                                 "t[0] * t[1] + tile_index", "sinf(x) + expf(-x)", "x == x0", "(x, 3)",
                                 "rsqrtf(x)", "__float_as_uint(x)"}) {
    INFO(expression);
    CHECK_NOTHROW(compile(generate(map_of(expression, {ElementType::f32, ElementType::f32}))));
  }
  CHECK_NOTHROW(compile(generate(
      map_of("x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7", std::vector<ElementType>(9, ElementType::bf16)))));
}

TEST_CASE("every pair of types converts") {
  for (const ElementType from : all_element_types) {
    for (const ElementType to : {ElementType::u8, ElementType::i64, ElementType::bf16, ElementType::f64,
                                 ElementType::tf32, ElementType::e5m2}) {
      INFO(name(from) << " to " << name(to));
      const Artifact artifact = compile(generate(map_of("x", {from, to})));
      CHECK(artifact.resources.spill_store_bytes == 0);
    }
  }
}
