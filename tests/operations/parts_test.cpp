// References can compute a part of a destination, which must equal that part of the whole result.
#include "operations/references.hpp"
#include "reference/random.hpp"
#include "reference/random_elements.hpp"
#include "seed.hpp"

#include <tmajit/operations.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using reference::Index, reference::Part, reference::between;

namespace {

struct Example {
  std::string_view operation;
  std::vector<std::vector<std::uint64_t>> sources;
  Arguments arguments = {};
  std::vector<std::int32_t> extents = {};  ///< of the dimensions that the sources after the first index
};

std::vector<Example> examples() {
  const std::vector<std::uint64_t> cube{5, 7, 6};
  const PadWidths around{{1, 1}, {1, 1}};
  std::vector<Example> all{
      {"copy", {cube}},
      {"permute", {cube}, {{"axes", Dims{2, 0, 1}}}},
      {"slice", {cube}, {{"slices", std::vector<Slice>{{4, 0, -2}, {1, 6, 2}, {}}}}},
      {"flip", {cube}, {{"axes", Dims{0, 2}}}},
      {"broadcast", {{7, 1}}, {{"shape", Dims{3, 7, 4}}}},
      {"pad", {cube}, {{"widths", PadWidths{{2, -1, 0}, {-1, 3, 2}}}, {"value", 2.0}}},
      {"cast", {cube}},
      {"concat", {cube, {5, 2, 6}}, {{"axis", std::int64_t{1}}}},
      {"split", {cube}, {{"axis", std::int64_t{0}}, {"parts", std::vector<std::int64_t>{2, 3}}}},
      {"map", {cube, cube}, {{"expression", "x0 * expf(x1) - 1"}}},
      {"stencil",
       {cube},
       {{"expression", "x(-1,0) + 2 * x(0,3)"}, {"boundary", "wrap"}, {"dims", Dims{0, 2}}}},
      {"copy_ragged", {cube, {4, 3}}},
      {"reduce_into", {cube}, {{"op", "add"}}},
      {"im2col", {{2, 6, 5, 3}}, {{"filter", Dims{3, 2}}, {"strides", Dims{1, 2}}, {"padding", around}}},
      {"convolution", {{2, 6, 5, 3}, {4, 3, 2, 3}}, {{"filter", Dims{3, 2}}, {"padding", around}}}};
  for (const char* op : {"sum", "mean", "max", "arg_min", "any"})
    all.push_back({"reduce", {cube}, {{"op", op}, {"axes", Dims{1}}}});
  all.push_back({"reduce", {cube, cube}, {{"op", "sum"}, {"axes", Dims{0, 2}}, {"expression", "x0 * x1"}}});
  for (const char* const indexed : {"gather", "scatter", "scatter_add"}) {
    const std::vector<std::uint64_t> rows{7};
    all.push_back({indexed, {cube, rows}, {{"axes", Dims{1}}}, {7}});
    all.push_back({indexed, {cube, {5, 7, 1}}, {{"axes", Dims{1}}, {"along", "yes"}}, {7}});
    all.push_back({indexed, {cube, rows, {1}}, {{"axes", Dims{1, 2}}}, {7, 1}});
  }
  all.push_back(
      {"moe_permute", {{9, 7}, {9, 3}}, {{"count", std::int64_t{5}}, {"alignment", std::int64_t{4}}}, {6}});
  all.push_back({"gather", {cube, {5}}, {{"axes", Dims{1, 2}}, {"flat", "yes"}}, {7}});
  all.push_back({"gather_sum", {cube, {2, 7}}, {{"axes", Dims{1}}}, {7}});
  all.push_back({"rowwise",
                 {cube, {1, 7, 1}},
                 {{"steps", "m = max(x0); y0 = (x0 - m) * x1; y1 = sum(x0)"}, {"axes", Dims{0, 2}}}});
  all.push_back({"cast_transpose", {cube}, {{"to", "i8"}}});
  all.push_back({"top_k", {cube}, {{"k", std::int64_t{4}}, {"axis", std::int64_t{1}}}});
  for (const char* bound : {"inclusive", "exclusive"}) {
    for (const char* direction : {"forwards", "backwards"}) {
      all.push_back({"scan",
                     {cube},
                     {{"op", "sum"}, {"axis", std::int64_t{1}}, {"bound", bound}, {"direction", direction}}});
    }
  }
  return all;
}

/// A dense tensor of random elements in host memory.
struct Memory {
  Memory(const TensorView& view, std::uint64_t seed)
      : bytes(view.elements() * size_of(view.type)), tensor{view, 0} {
    reference::RandomElements(view.type, seed).fill(bytes);
    tensor.address = reinterpret_cast<DevicePtr>(bytes.data());
  }
  /// Makes the memory an index tensor of i32: places in a dimension, one after the other.
  void fill_with_places(std::int32_t extent) {
    for (std::size_t i = 0; i < bytes.size() / sizeof extent; ++i) {
      const auto place = static_cast<std::int32_t>(i) % extent;
      std::memcpy(&bytes[i * sizeof extent], &place, sizeof place);
    }
  }
  std::vector<std::byte> bytes;
  Tensor tensor;
};

Part random_part(reference::Random& random, const TensorView& view) {
  Part part;
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    part.count.at(d) = between(random, 1, view.shape.at(d));
    part.first.at(d) = between(random, 0, view.shape.at(d) - part.count.at(d));
  }
  return part;
}

bool is_inside(const Part& part, const Index& index, std::uint32_t rank) {
  for (std::uint32_t d = 0; d < rank; ++d) {
    if (index.at(d) - part.first.at(d) >= part.count.at(d)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("computing a part writes the elements of the whole result within the part, and no others") {
  reference::Random random(tests::seed(20261124));
  for (const Example& example : examples()) {
    INFO(example.operation);
    std::vector<Memory> sources;
    std::vector<TensorView> views;
    std::vector<Tensor> from;
    for (const auto& shape : example.sources) {
      const bool is_index = !views.empty() && !example.extents.empty();
      views.push_back(TensorView::contiguous(is_index ? ElementType::i32 : ElementType::f32, shape));
      Memory& memory = sources.emplace_back(views.back(), random());
      from.push_back(memory.tensor);
      if (is_index) memory.fill_with_places(example.extents.at(views.size() - 2));
    }
    // Growing this list moves the vectors but not their memory, so addresses stay valid.
    std::vector<Memory> whole;
    std::vector<Tensor> to;
    for (const TensorView& view : destinations_of(example.operation, views, example.arguments))
      to.push_back(whole.emplace_back(view, random()).tensor);
    const Operation operation = make_operation(example.operation, to, from, example.arguments);
    for (const Move& move : operation.moves) {
      REQUIRE(reference::understands(move));
      // The memory that this move writes.
      Memory& memory = *std::ranges::find_if(whole, [&](const Memory& one) {
        return move.destination.address - one.tensor.address < one.bytes.size();
      });
      const std::vector<std::byte> before = memory.bytes;
      reference::compute(move);
      const std::vector<std::byte> after = memory.bytes;
      const TensorView& view = move.destination.view;
      const std::vector<double> errors = reference::allowed_errors(move, reference::whole(view));
      for (int n = 0; n < 20; ++n) {
        const Part part = random_part(random, view);
        std::ranges::copy(before, memory.bytes.begin());
        reference::compute(move, part);
        std::vector<double> expected_errors;
        std::size_t number = 0;
        reference::for_each_index(view.rank, reference::whole(view), [&](const Index& index) {
          const auto* const element =
              reference::element_at(move.destination, reference::offset_of(view, index));
          const auto at = element - memory.bytes.data();
          const bool inside = is_inside(part, index, view.rank);
          const auto& wanted = inside ? after : before;
          REQUIRE(std::memcmp(element, &wanted[static_cast<std::size_t>(at)], size_of(view.type)) == 0);
          if (inside && !errors.empty()) expected_errors.push_back(errors[number]);
          ++number;
        });
        REQUIRE(reference::allowed_errors(move, part) == expected_errors);
      }
      std::ranges::copy(after, memory.bytes.begin());
    }
  }
}
