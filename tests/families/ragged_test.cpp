/// Batches of copies as plans: dimensions and elements, tiles, the table, and the rules of rejected batches.
#include "families/ragged/ragged_layout.hpp"
#include "families/ragged/ragged_pairs.hpp"
#include "spec/rules.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/error.hpp>
#include <tmajit/ragged.hpp>
#include <tmajit/ragged_batch.cuh>

#include <cstring>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

constexpr DevicePtr to_address = 0x7f00'0000'0000;
constexpr DevicePtr from_address = 0x7e00'0000'0000;
constexpr DevicePtr spacing = 1 << 24;

struct Batch {
  std::vector<Tensor> destinations;
  std::vector<Tensor> sources;

  void add(const TensorView& to, const TensorView& from, DevicePtr shift = 0) {
    const DevicePtr offset = spacing * destinations.size();
    destinations.push_back({to, to_address + offset + shift});
    sources.push_back({from, from_address + offset});
  }
  void add(const TensorView& both) { add(both, both); }
  [[nodiscard]] RaggedLayout layout() const { return ragged_layout(ragged_pairs(destinations, sources)); }
  [[nodiscard]] RaggedPlan plan(DevicePtr table = 0) const {
    return plan_ragged(destinations, sources, table);
  }
};

TensorView ragged_view(ElementType type, const Dims& shape) {
  return TensorView::contiguous(type, shape);
}

/// The rules that a batch breaks, with their subjects.
std::vector<std::string> broken_batch(const Batch& batch) {
  std::vector<std::string> found;
  try {
    static_cast<void>(batch.plan());
  } catch (const SpecError& error) {
    CHECK(complete(error.violations()));
    for (const Violation& violation : error.violations())
      found.push_back(violation.rule + " of " + violation.subject);
  }
  return found;
}

template <std::uint32_t rank>
params::RaggedTensor<rank> entry(const RaggedLayout& layout, std::size_t number) {
  params::RaggedTensor<rank> tensor;
  std::memcpy(&tensor, layout.table.data() + number * sizeof tensor, sizeof tensor);
  return tensor;
}

std::vector<std::uint32_t> firsts(const RaggedLayout& layout) {
  std::vector<std::uint32_t> first(layout.count + 1);
  std::memcpy(first.data(), layout.table.data() + layout.first_offset, first.size() * sizeof(std::uint32_t));
  return first;
}

}  // namespace

TEST_CASE("ragged: dimensions contiguous in all tensors merge into one dimension of wide elements") {
  Batch batch;
  batch.add(ragged_view(ElementType::bf16, {100, 64}));
  batch.add(ragged_view(ElementType::bf16, {3, 64}));
  RaggedLayout layout = batch.layout();
  CHECK(layout.rank == 1);
  CHECK(layout.element_bytes == 8);
  CHECK(layout.moved == 103 * 64 / 4);
  CHECK_FALSE(layout.has_unmapped);
  CHECK_FALSE(layout.row_tails);
  CHECK(layout.tile[0] == 1024);  // four boxes of 256 elements
  CHECK(layout.parts() == 4);
  CHECK(firsts(layout) == std::vector<std::uint32_t>{0, 2, 3});
  CHECK(entry<1>(layout, 1).extent[0] == 3 * 64 / 4);

  // If one tensor has gaps between rows, all of them keep the dimension.
  batch.add(TensorView::strided(ElementType::bf16, {10, 64}, {72, 1}),
            ragged_view(ElementType::bf16, {10, 64}));
  layout = batch.layout();
  CHECK(layout.rank == 2);
  CHECK(layout.element_bytes == 8);
  CHECK(entry<2>(layout, 2).destination_step[0] == 144);
  CHECK(entry<2>(layout, 2).by_engine == 1);
}

TEST_CASE("ragged: the dimension contiguous in most tensors comes last, and extents of 1 are dropped") {
  Batch batch;
  for (const std::int64_t n : {5, 50, 500}) {
    batch.add(TensorView::strided(ElementType::f32, {64, 1, static_cast<std::uint64_t>(n)}, {1, 7, 80}));
  }
  const RaggedLayout layout = batch.layout();
  CHECK(layout.rank == 2);
  CHECK(entry<2>(layout, 1).extent[0] == 50);
  CHECK(entry<2>(layout, 1).extent[1] == 32);
  CHECK(entry<2>(layout, 1).destination_step[0] == 320);
}

TEST_CASE("ragged: only those tensors that no tensor map describes are copied by threads") {
  Batch batch;
  batch.add(ragged_view(ElementType::f32, {100, 64}));
  batch.add(ragged_view(ElementType::f32, {100, 64}), ragged_view(ElementType::f32, {100, 64}), 4);
  batch.add(TensorView::strided(ElementType::f32, {3, 8}, {8, 1}),
            TensorView::strided(ElementType::f32, {3, 8}, {-8, 1}));
  const RaggedLayout layout = batch.layout();
  CHECK(layout.has_unmapped);
  CHECK(entry<2>(layout, 0).by_engine == 1);
  CHECK(entry<2>(layout, 1).by_engine == 0);
  CHECK(entry<2>(layout, 2).by_engine == 0);
  CHECK(entry<2>(layout, 2).source_step[0] == std::uint64_t{0} - 32);
}

TEST_CASE("ragged: rows not a multiple of 16 bytes, empty tensors and empty batches are planned") {
  Batch batch;
  batch.add(TensorView::strided(ElementType::u8, {4, 33}, {48, 1}));
  batch.add(ragged_view(ElementType::u8, {0, 33}));
  RaggedLayout layout = batch.layout();
  CHECK(layout.row_tails);
  CHECK(layout.count == 1);
  CHECK(layout.element_bytes == 1);
  CHECK(batch.plan(1 << 20).kernel.bytes_moved() == 2ULL * 4 * 33);

  layout = Batch{}.layout();
  CHECK(layout.tiles == 0);
  CHECK(Batch{}.plan().kernel.launch_shape().grid[0] == 1);
}

TEST_CASE("ragged: batches of one kind share a kernel, whatever their number of tensors") {
  Batch batch;
  for (std::uint64_t n = 1; n < 500; ++n)
    batch.add(ragged_view(ElementType::f32, {static_cast<std::int64_t>(n), 256}));
  const RaggedPlan plan = batch.plan(1 << 20);
  CHECK(plan.kernel.family().name == "ragged");
  CHECK(plan.kernel.operand_address(0) == 1 << 20);
  CHECK(plan.kernel.launch_shape().grid[0] == 132 * 6);
  CHECK(plan.kernel.launch_shape().scratch_bytes > 0);
  CHECK_THAT(source(plan.kernel).text, ContainsSubstring("tensormap.replace.tile.global_address"));
  Batch other = batch;
  other.add(ragged_view(ElementType::f32, {77, 256}));
  CHECK(other.plan(1 << 20).kernel.key() == plan.kernel.key());
}

TEST_CASE("ragged: errors name the tensor's index in the list and the broken rule") {
  Batch batch;
  batch.add(ragged_view(ElementType::f32, {4, 8}));
  batch.add(ragged_view(ElementType::f32, {4, 8}), ragged_view(ElementType::f32, {4, 9}));
  CHECK(broken_batch(batch) == std::vector<std::string>{"view.shape of source 1: shape"});
  batch.sources.pop_back();
  CHECK_THROWS_MATCHES(batch.plan(), Error,
                       MessageMatches(ContainsSubstring("2 destinations and 1 source;")));

  batch = {};
  batch.add(ragged_view(ElementType::f32, {4, 8}));
  batch.add(ragged_view(ElementType::f32, {32}));
  batch.add(ragged_view(ElementType::f64, {4, 8}));
  batch.add(ragged_view(ElementType::f32, {4, 8}), ragged_view(ElementType::f32, {4, 8}), 2);
  batch.sources[3].address = 0;
  CHECK(broken_batch(batch) ==
        std::vector<std::string>{"ragged.rank of destination 1: rank", "ragged.rank of source 1: rank",
                                 "ragged.type of destination 2: type", "ragged.type of source 2: type",
                                 "address.alignment of destination 3: address",
                                 "address.null of source 3: address"});

  batch = {};
  for (int i = 0; i < 3; ++i) batch.add(ragged_view(ElementType::f32, {4, 8}));
  batch.sources[2].address = batch.destinations[0].address + 16;
  CHECK_THROWS_MATCHES(batch.plan(), SpecError,
                       MessageMatches(ContainsSubstring("destination 0") && ContainsSubstring("source 2")));
  batch = {};
  batch.add(TensorView::strided(ElementType::f32, {4, 8}, {0, 1}), ragged_view(ElementType::f32, {4, 8}));
  CHECK(broken_batch(batch) == std::vector<std::string>{"view.overlap of destination 0: strides"});

  batch = {};
  batch.add(TensorView::strided(ElementType::f32, {2, 2, 2, 2, 2, 4}, {1600, 400, 160, 40, 16, 1}));
  CHECK_THROWS_MATCHES(batch.plan(), Error, MessageMatches(ContainsSubstring("at most 5")));
}
