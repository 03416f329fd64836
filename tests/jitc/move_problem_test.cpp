#include "move_problem.hpp"

#include "generated.hpp"
#include "move_reference.hpp"
#include "subprocess.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include <catch2/catch_test_macros.hpp>

using namespace jitc;
using namespace std::string_literals;
using tmajit::ElementType;
using tmajit::TensorView;

namespace {

std::vector<std::uint64_t> shape(const TensorView& view) {
  return {view.shape.begin(), view.shape.begin() + view.rank};
}

/// The outputs of moves of u16 arrays that hold 0, 1, 2 … where nothing else is said, as move_plainly() makes
/// them; dense, the one after the other.
std::vector<std::uint16_t> moved(KernelOptions tensors, const MoveOptions& options) {
  tensors.dtypes = {"u16"};
  const auto problem = make_move(tensors, options);
  std::vector<std::vector<std::byte>> memory;
  const auto at = [&](const MoveArray& array, bool filled) {
    auto& bytes = memory.emplace_back(array.memory.bytes);
    if (filled) {
      std::vector<std::uint16_t> numbers(array.view.elements());
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i] = static_cast<std::uint16_t>(i + 100 * (memory.size() - 1));
      }
      scatter(bytes, array.memory, array.view, std::as_bytes(std::span(numbers)),
              {.strides = c_order(shape(array.view))});
    }
    return reinterpret_cast<std::uintptr_t>(bytes.data());
  };
  memory.reserve(problem.inputs.size() + problem.outputs.size());
  std::vector<std::uint64_t> inputs;
  std::vector<std::uint64_t> outputs;
  for (const auto& input : problem.inputs) inputs.push_back(at(input, true));
  for (const auto& output : problem.outputs) outputs.push_back(at(output, false));
  for (const auto& move : problem.moves(inputs, outputs)) move_plainly(move);
  std::vector<std::uint16_t> result;
  for (std::size_t i = 0; i < problem.outputs.size(); ++i) {
    const auto& output = problem.outputs[i];
    std::vector<std::uint16_t> elements(output.view.elements());
    gather(std::as_writable_bytes(std::span(elements)), memory[inputs.size() + i], output.memory,
           output.view);
    result.insert(result.end(), elements.begin(), elements.end());
  }
  return result;
}

KernelOptions tensors(std::string operation, std::string shape) {
  KernelOptions options;
  options.family = std::move(operation);
  options.shape = std::move(shape);
  return options;
}

using Elements = std::vector<std::uint16_t>;

}  // namespace

TEST_CASE("every move does what NumPy would do") {
  CHECK(moved(tensors("permute", "2x3"), {.axes = "1,0"}) == Elements{0, 3, 1, 4, 2, 5});
  CHECK(moved(tensors("slice", "2x6"), {.slice = ":,1::2"}) == Elements{1, 3, 5, 7, 9, 11});
  CHECK(moved(tensors("slice", "6"), {.slice = "-2::-2"}) == Elements{4, 2, 0});
  CHECK(moved(tensors("flip", "2x3"), {.flip = "1"}) == Elements{2, 1, 0, 5, 4, 3});
  CHECK(moved(tensors("broadcast", "2x1"), {.broadcast = "2x2x3"}) ==
        Elements{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1});
  CHECK(moved(tensors("pad", "1x2"), {.pad = "1,0:0,2", .pad_value = 7}) == Elements{7, 7, 7, 7, 0, 1, 7, 7});
  CHECK(moved(tensors("pad", "2x3"), {.pad = "-1,1:0,-1", .pad_value = 9}) == Elements{9, 3, 4});
  CHECK(moved(tensors("copy", "2x3"), {.slice = ":,::-1", .axes = "1,0", .pad = "0,1"}) ==
        Elements{0, 2, 5, 0, 0, 1, 4, 0, 0, 0, 3, 0});
  auto several = tensors("concat", "2x2");
  CHECK(moved(several, {.axis = "1", .parts = "1,2"}) == Elements{0, 100, 101, 1, 102, 103});
  CHECK(moved(several, {.axis = "0"}) == Elements{0, 1, 2, 3, 100, 101, 102, 103});
  CHECK(moved(tensors("split", "2x3"), {.axis = "-1", .parts = "1,2"}) == Elements{0, 3, 1, 2, 4, 5});
  CHECK(moved(tensors("slice", "4"), {.slice = "3:1"}).empty());
}

TEST_CASE("strides and offsets place the arrays, and change nothing of what is moved") {
  auto turned = tensors("permute", "2x3");
  turned.strides = {"-10,2"};
  turned.out_strides = "1,-3"s;
  CHECK(moved(turned, {.axes = "1,0", .offset = 3, .out_offset = 1}) == Elements{0, 3, 1, 4, 2, 5});
  const auto problem = make_move(turned, {.axes = "1,0", .offset = 3, .out_offset = 1});
  CHECK(problem.inputs[0].memory.first == (10 + 3) * 4);
  CHECK(problem.inputs[0].memory.bytes == (10 + 3 + 4 + 1) * 4);
  CHECK(problem.outputs[0].memory.first == (3 + 1) * 4);
  const auto moves = problem.unplaced();
  REQUIRE(moves.size() == 1);
  CHECK(moves[0].sources[0].address % 256 == 13 * 4);
}

TEST_CASE("types: copies keep bits, casts convert, a map says what its own is") {
  auto cast = tensors("cast", "8");
  cast.out_dtype = "bf16"s;
  auto problem = make_move(cast, {});
  CHECK(problem.expression == "x");
  CHECK(problem.outputs[0].view.type == ElementType::bf16);
  cast.out_dtype = "f32"s;
  CHECK(make_move(cast, {}).expression.empty());
  cast.dtypes = {"tf32"};
  cast.out_dtype = "tf32"s;
  CHECK(make_move(cast, {}).expression == "x");
  auto copy = tensors("copy", "8");
  copy.out_dtype = "u32"s;
  CHECK(make_move(copy, {}).outputs[0].view.type == ElementType::u32);
  copy.out_dtype = "u16"s;
  CHECK_THROWS_AS(make_move(copy, {}), tmajit::Error);
  auto map = tensors("map", "4x8");
  map.expression = "x0+x1"s;
  map.out_dtype = "f16"s;
  problem = make_move(map, {});
  CHECK(problem.inputs.size() == 2);
  CHECK(problem.outputs[0].view.type == ElementType::f16);
  CHECK(describe(problem) == "map --expr 'x0+x1': f32 4x8 and f32 4x8 -> f16 4x8");
}

TEST_CASE("the comparison finds wrong elements, and bytes changed beside them") {
  auto options = tensors("copy", "2x3");
  options.dtypes = {"u16"};
  options.out_strides = "4,1"s;
  const auto problem = make_move(options, {});
  const auto& output = problem.outputs.front();
  std::vector<std::byte> expected(output.memory.bytes, std::byte{1});
  auto found = expected;
  CHECK(compare(output, expected, found, false).none());
  CHECK(describe(output, compare(output, expected, found, false)) == "output: all 6 elements are right");
  found[2 * 5 + 1] = std::byte{2};
  found[2 * 6] = std::byte{3};
  auto difference = compare(output, expected, found, false);
  CHECK(difference.wrong == 2);
  CHECK(difference.stray_bytes == 0);
  CHECK(describe(output, difference) ==
        "output: 2 of 6 elements are wrong, first [1, 1]: 0x0201 instead of 0x0101");
  found = expected;
  found[2 * 3] = std::byte{9};
  difference = compare(output, expected, found, false);
  CHECK(difference.wrong == 0);
  CHECK(difference.stray_bytes == 1);
  CHECK(describe(output, difference) == "output: 1 byte between its elements changed");
}

TEST_CASE("made-up elements are finite, of many magnitudes, and the same for the same seed") {
  std::vector<float> floats(4096);
  generate_elements(std::as_writable_bytes(std::span(floats)), ElementType::f32, 5);
  CHECK(
      std::all_of(floats.begin(), floats.end(), [](float x) { return std::isfinite(x) && std::abs(x) < 2; }));
  CHECK(std::any_of(floats.begin(), floats.end(), [](float x) { return x < -0.5F; }));
  CHECK(std::set<float>(floats.begin(), floats.end()).size() > 4000);
  auto again = floats;
  generate_elements(std::as_writable_bytes(std::span(again)), ElementType::f32, 5);
  CHECK(again == floats);
  generate_elements(std::as_writable_bytes(std::span(again)), ElementType::f32, 6);
  CHECK(again != floats);
  for (const auto type : tmajit::all_element_types) {
    CAPTURE(tmajit::name(type));
    std::vector<std::byte> bytes(3UL * 1024 * tmajit::size_of(type));
    generate_elements(bytes, type, 1);
    CHECK(std::set<std::byte>(bytes.begin(), bytes.end()).size() > 100);
  }
}
