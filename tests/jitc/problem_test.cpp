#include "problem.hpp"

#include "arrays.hpp"
#include "move_reference.hpp"
#include "reference/random_elements.hpp"
#include "subprocess.hpp"

#include <tmajit/error.hpp>
#include <tmajit/plan.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc;
using namespace std::string_literals;
using tmajit::ElementType;
using tmajit::TensorView;

namespace {

Shape shape(const TensorView& view) {
  return {extents(view).begin(), extents(view).end()};
}
std::vector<std::int64_t> strides_of(const TensorView& view) {
  return {strides(view).begin(), strides(view).end()};
}

/// The concatenated outputs of an operation by the reference. Its inputs are u16 arrays: the first holds 0,
/// 1, 2 …, the second 100, 101, 102 …
std::vector<std::uint16_t> moved(ProblemOptions options) {
  options.dtypes = {"u16"};
  const auto problem = make_problem(options, Purpose::run);
  std::vector<std::vector<std::byte>> memory;
  memory.reserve(problem.inputs.size() + problem.outputs.size());
  Addresses at;
  for (const auto& input : problem.inputs) {
    std::vector<std::uint16_t> numbers(input.view.elements());
    std::iota(numbers.begin(), numbers.end(), static_cast<std::uint16_t>(100 * memory.size()));
    auto& bytes = memory.emplace_back(input.memory.bytes);
    scatter(bytes, input.memory, input.view, std::as_bytes(std::span(numbers)),
            {.strides = c_order(extents(input.view))});
    at.inputs.push_back(reinterpret_cast<std::uintptr_t>(bytes.data()));
  }
  for (const auto& output : problem.outputs)
    at.outputs.push_back(reinterpret_cast<std::uintptr_t>(memory.emplace_back(output.memory.bytes).data()));
  for (const auto& move : problem.operation(at).moves) reference::compute(move);
  std::vector<std::uint16_t> result;
  for (std::size_t i = 0; i < problem.outputs.size(); ++i) {
    const auto& [view, span, name] = problem.outputs[i];
    std::vector<std::uint16_t> elements(view.elements());
    gather(std::as_writable_bytes(std::span(elements)), memory[problem.inputs.size() + i], span, view);
    result.insert(result.end(), elements.begin(), elements.end());
  }
  return result;
}

/// The rules that a problem breaks.
std::vector<tmajit::Violation> violations(const Problem& problem) {
  try {
    (void)tmajit::plan_kernels(problem.operation(problem.planning_addresses()));
  } catch (const tmajit::SpecError& error) {
    return error.violations();
  }
  return {};
}

Problem look(const ProblemOptions& options) {
  return make_problem(options, Purpose::look);
}

using Elements = std::vector<std::uint16_t>;

}  // namespace

TEST_CASE("every operation gives the elements that NumPy gives") {
  CHECK(moved({.word = "permute", .shape = "2x3", .arguments = {{"--axes", "1,0"}}}) ==
        Elements{0, 3, 1, 4, 2, 5});
  CHECK(moved({.word = "slice", .shape = "2x6", .arguments = {{"--slice", ":,1::2"}}}) ==
        Elements{1, 3, 5, 7, 9, 11});
  CHECK(moved({.word = "slice", .shape = "6", .arguments = {{"--slice", "-2::-2"}}}) == Elements{4, 2, 0});
  CHECK(moved({.word = "flip", .shape = "2x3", .arguments = {{"--flip", "1"}}}) ==
        Elements{2, 1, 0, 5, 4, 3});
  CHECK(moved({.word = "broadcast", .shape = "2x1", .arguments = {{"--broadcast", "2x2x3"}}}) ==
        Elements{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1});
  CHECK(moved({.word = "pad", .shape = "1x2", .arguments = {{"--pad", "1,0:0,2"}, {"--pad-value", "7"}}}) ==
        Elements{7, 7, 7, 7, 0, 1, 7, 7});
  CHECK(moved({.word = "pad", .shape = "2x3", .arguments = {{"--pad", "-1,1:0,-1"}, {"--pad-value", "9"}}}) ==
        Elements{9, 3, 4});
  CHECK(moved({.word = "copy",
               .shape = "2x3",
               .arguments = {{"--slice", ":,::-1"}, {"--axes", "1,0"}, {"--pad", "0,1"}}}) ==
        Elements{0, 2, 5, 0, 0, 1, 4, 0, 0, 0, 3, 0});
  CHECK(moved({.word = "concat", .shape = "2x2", .arguments = {{"--axis", "1"}, {"--parts", "1,2"}}}) ==
        Elements{0, 100, 101, 1, 102, 103});
  CHECK(moved({.word = "concat", .shape = "2x2", .arguments = {{"--axis", "0"}}}) ==
        Elements{0, 1, 2, 3, 100, 101, 102, 103});
  CHECK(moved({.word = "split", .shape = "2x3", .arguments = {{"--axis", "-1"}, {"--parts", "1,2"}}}) ==
        Elements{0, 3, 1, 2, 4, 5});
  CHECK(moved({.word = "slice", .shape = "4", .arguments = {{"--slice", "3:1"}}}).empty());
}

TEST_CASE("a copy with element strides moves every n-th element of each dimension") {
  CHECK(moved({.word = "copy", .shape = "3x16", .arguments = {{"--element-strides", "2,8"}}}) ==
        Elements{0, 8, 32, 40});
}

TEST_CASE("strides and offsets change where arrays are in memory, but not which elements move") {
  const ProblemOptions turned{.word = "permute",
                              .shape = "2x3",
                              .strides = {"-10,2"},
                              .out_strides = "1,-3",
                              .offset = 3,
                              .out_offset = 1,
                              .arguments = {{"--axes", "1,0"}}};
  CHECK(moved(turned) == Elements{0, 3, 1, 4, 2, 5});
  const auto problem = look(turned);
  CHECK(problem.inputs[0].memory.first == (10 + 3) * 4ULL);
  CHECK(problem.inputs[0].memory.bytes == (10 + 3 + 4 + 1) * 4ULL);
  CHECK(problem.outputs[0].memory.first == (3 + 1) * 4ULL);
  const auto operation = problem.operation(problem.planning_addresses());
  REQUIRE(operation.moves.size() == 1);
  CHECK(operation.moves[0].sources[0].address % 256 == 13ULL * 4);
}

TEST_CASE("copy needs types of one size, cast converts, and a map's output has the type of --out-dtype") {
  const auto moves = [](const ProblemOptions& options) {
    const auto problem = look(options);
    return problem.operation(problem.planning_addresses()).moves;
  };
  CHECK(std::holds_alternative<tmajit::Map>(
      moves({.word = "cast", .out_dtype = "bf16", .shape = "8"})[0].body));
  CHECK(std::holds_alternative<tmajit::Copy>(
      moves({.word = "cast", .out_dtype = "f32", .shape = "8"})[0].body));
  CHECK(std::holds_alternative<tmajit::Map>(
      moves({.word = "cast", .dtypes = {"tf32"}, .out_dtype = "tf32", .shape = "8"})[0].body));
  CHECK(look({.word = "copy", .out_dtype = "u32", .shape = "8"}).outputs[0].view.type == ElementType::u32);
  CHECK_THROWS_AS(look({.word = "copy", .out_dtype = "u16", .shape = "8"}), tmajit::Error);
  const auto problem =
      look({.word = "map", .out_dtype = "f16", .shape = "4x8", .arguments = {{"--expr", "x0+x1"}}});
  CHECK(problem.inputs.size() == 2);
  CHECK(problem.outputs[0].view.type == ElementType::f16);
  CHECK(describe(problem) == "map --expr 'x0+x1': f32 4x8 and f32 4x8 -> f16 4x8");
}

TEST_CASE("option --dtype names one type for all arrays, the inputs' types, or first the output's type") {
  const auto types = [](std::vector<std::string> dtypes, std::string out = {}) {
    const auto problem = look({.word = "map",
                               .dtypes = std::move(dtypes),
                               .out_dtype = std::move(out),
                               .arguments = {{"--expr", "x0+x1"}}});
    return std::vector{problem.outputs.at(0).view.type, problem.inputs.at(0).view.type,
                       problem.inputs.at(1).view.type};
  };
  using enum ElementType;
  CHECK(types({"f16"}) == std::vector{f16, f16, f16});
  CHECK(types({"f16,bf16"}) == std::vector{f32, f16, bf16});  // promoted
  CHECK(types({"f32", "f16", "bf16"}) == std::vector{f32, f16, bf16});
  CHECK_THROWS_WITH(types({"f32", "f16", "bf16"}, "u8"),
                    Catch::Matchers::ContainsSubstring("--dtype begins with f32"));
  CHECK(types({"f16,bf16"}, "u8") == std::vector{u8, f16, bf16});
}

TEST_CASE("the operation's word and options select the planner, a family, or the caller's tile") {
  const auto selected = [](const ProblemOptions& options) {
    const auto request = read_request(options);
    return std::pair(std::string(request.family_name()), request.operation->name == "tiles");
  };
  using Selected = std::pair<std::string, bool>;
  CHECK(selected({.word = "copy"}) == Selected("", false));
  CHECK(selected({.word = "copy", .arguments = {{"--axes", "1,0"}}}) == Selected("", false));
  CHECK(selected({.word = "copy", .arguments = {{"--box", "8x8"}}}).second);
  CHECK(selected({.word = "copy", .arguments = {{"--swizzle", "none"}}}).second);
  CHECK(selected({.word = "copy", .arguments = {{"--stages", "2"}}}).second);
  CHECK_FALSE(selected({.word = "copy", .arguments = {{"--l2", "64B"}}}).second);
  CHECK_FALSE(selected({.word = "map", .arguments = {{"--expr", "x + g[0]"}}}).second);
  CHECK(selected({.word = "map", .arguments = {{"--expr", "x + t[0]"}}}).second);
  CHECK(selected({.word = "map", .arguments = {{"--expr", "x + tile_index"}}}).second);
  CHECK_FALSE(selected({.word = "map", .arguments = {{"--expr", "x.t2 + at"}}}).second);
  CHECK(selected({.word = "bulk", .arguments = {{"--expr", "x"}}}).second);
  CHECK(selected({.word = "snapshot"}).second);
  CHECK(selected({.word = "transpose", .arguments = {{"--axes", "1,0"}}}) == Selected("transpose", false));
  CHECK_THROWS_AS(selected({.word = "permute", .arguments = {{"--axes", "1,0"}, {"--box", "8x8"}}}),
                  tmajit::Error);
  CHECK_THROWS_AS(selected({.word = "copy", .arguments = {{"--axes", "1,0"}, {"--box", "8x8"}}}),
                  tmajit::Error);
  CHECK_THROWS_AS(selected({.word = "bulk", .arguments = {{"--flip", "0"}}}), tmajit::Error);
  CHECK_THROWS_AS(selected({.word = "frobnicate"}), tmajit::Error);
}

TEST_CASE("every family's name is accepted in place of an operation") {
  for (const auto& family : tmajit::families()) {
    CAPTURE(family.name);
    const auto request = read_request({.word = std::string(family.name)});
    CHECK((request.operation->name == family.name || request.family_name() == family.name));
  }
}

TEST_CASE("the shape is that of --shape, else the box, else 4096x4096; element strides divide it") {
  CHECK(shape(look({.word = "copy"}).outputs[0].view) == Shape{4096, 4096});
  CHECK(shape(look({.word = "copy", .arguments = {{"--box", "2,8,64"}}}).outputs[0].view) == Shape{2, 8, 64});
  const auto halved = look({.word = "copy",
                            .shape = "5x33x64",
                            .arguments = {{"--box", "2,8,64"}, {"--element-strides", "1x2x1"}}});
  CHECK(shape(halved.outputs[0].view) == Shape{5, 17, 64});
  CHECK(violations(halved).empty());
  const auto strided = look({.word = "copy",
                             .shape = "5x33x64",
                             .strides = {"4224,128,1"},
                             .out_strides = "2000,100,1",
                             .arguments = {{"--box", "2,8,64"}, {"--element-strides", "1x2x1"}}});
  CHECK(strides_of(strided.inputs[0].view) == std::vector<std::int64_t>{4224, 128, 1});
  CHECK(strides_of(strided.outputs[0].view) == std::vector<std::int64_t>{2000, 100, 1});
  CHECK(violations(strided).empty());
}

TEST_CASE("only runs of a tile pad rows, only as far as TMA needs it, and with a note") {
  ProblemOptions options{.word = "copy", .dtypes = {"u8"}, .shape = "10x7", .arguments = {{"--stages", "2"}}};
  CHECK_FALSE(violations(look(options)).empty());
  auto problem = make_problem(options, Purpose::run);
  CHECK(strides_of(problem.inputs[0].view) == std::vector<std::int64_t>{16, 1});
  CHECK(strides_of(problem.outputs[0].view) == std::vector<std::int64_t>{16, 1});
  CHECK(problem.notes.size() == 2);
  CHECK(violations(problem).empty());
  options.shape = "10x32"s;
  CHECK(make_problem(options, Purpose::run).notes.empty());
  options.shape = "10x7"s;
  options.strides = {"7,1"};
  CHECK_FALSE(violations(make_problem(options, Purpose::run)).empty());
  // Kernels of the planner's choice need no padded rows.
  CHECK(make_problem({.word = "copy", .dtypes = {"u8"}, .shape = "10x7"}, Purpose::run).notes.empty());
}

TEST_CASE("type and shape come from the input file; a bulk kernel flattens any rank into one row") {
  const test::Folder folder;
  test::write_npy(folder / "a.npy", "<f2", {3, 4}, std::string(24, '\0'));
  ProblemOptions options{.word = "bulk", .in = {folder / "a.npy"}, .arguments = {{"--expr", "x"}}};
  const auto problem = make_problem(options, Purpose::run);
  CHECK(problem.inputs[0].view.type == ElementType::f16);
  CHECK(shape(problem.outputs[0].view) == Shape{3, 4});
  CHECK(shape(problem.operation(problem.planning_addresses()).moves[0].sources[0].view) == Shape{12});
  options.shape = "4x3"s;
  CHECK_THROWS_AS(look(options), tmajit::Error);
  options.shape = "3x4"s;
  CHECK_NOTHROW(look(options));
  options.dtypes = {"bf16"};
  CHECK_THROWS_AS(look(options), tmajit::Error);
}

TEST_CASE("options --oob and --l2 are validated") {
  ProblemOptions options{.word = "copy", .dtypes = {"i32"}, .arguments = {{"--oob", "nan"}}};
  const auto broken = violations(look(options));
  REQUIRE(broken.size() == 1);
  CHECK(broken.front().subject.starts_with("input"));
  options.dtypes = {"f32"};
  CHECK(violations(look(options)).empty());
  const auto problem = look(options);
  const auto operation = problem.operation(problem.planning_addresses());
  CHECK(std::get<tmajit::Tiles>(operation.moves.front().body).options.l2_promotion ==
        tmajit::L2Promotion::b256);
}

TEST_CASE("the comparison finds wrong elements and changed bytes between elements") {
  const auto problem = look({.word = "copy", .dtypes = {"u16"}, .shape = "2x3", .out_strides = "4,1"});
  const auto& output = problem.outputs.front();
  std::vector<std::byte> expected(output.memory.bytes, std::byte{1});
  auto found = expected;
  CHECK(compare(output, expected, found, false).none());
  CHECK(describe(output, compare(output, expected, found, false)) == "output: all 6 elements are right");
  found[2 * 5 + 1] = std::byte{2};
  found[2ULL * 6] = std::byte{3};
  auto difference = compare(output, expected, found, false);
  CHECK(difference.wrong == 2);
  CHECK(difference.stray_bytes == 0);
  CHECK(describe(output, difference) ==
        "output: 2 of 6 elements are wrong, first [1, 1]: 0x0201 instead of 0x0101");
  found = expected;
  found[2ULL * 3] = std::byte{9};
  difference = compare(output, expected, found, false);
  CHECK(difference.wrong == 0);
  CHECK(difference.stray_bytes == 1);
  CHECK(describe(output, difference) == "output: 1 byte between its elements changed");
}

TEST_CASE("random elements are finite, of many magnitudes, and the same for the same seed") {
  std::vector<float> floats(4096);
  reference::RandomElements(ElementType::f32, 5).fill(std::as_writable_bytes(std::span(floats)));
  CHECK(
      std::all_of(floats.begin(), floats.end(), [](float x) { return std::isfinite(x) && std::abs(x) < 2; }));
  CHECK(std::any_of(floats.begin(), floats.end(), [](float x) { return x < -0.5F; }));
  CHECK(std::set<float>(floats.begin(), floats.end()).size() > 4000);
  auto again = floats;
  reference::RandomElements(ElementType::f32, 5).fill(std::as_writable_bytes(std::span(again)));
  CHECK(again == floats);
  reference::RandomElements(ElementType::f32, 6).fill(std::as_writable_bytes(std::span(again)));
  CHECK(again != floats);
  for (const auto type : tmajit::all_element_types) {
    CAPTURE(tmajit::name(type));
    std::vector<std::byte> bytes(3UL * 1024 * tmajit::size_of(type));
    reference::RandomElements(type, 1).fill(bytes);
    CHECK(std::set<std::byte>(bytes.begin(), bytes.end()).size() > 100);
  }
}
