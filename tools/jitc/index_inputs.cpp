#include "index_inputs.hpp"

#include "parse.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace jitc {
namespace {

/// The extent of the dimension that an index tensor indexes.
std::uint64_t selected_extent(const Problem& problem, std::size_t input, bool scatters) {
  const auto& selected =
      scatters ? problem.outputs.front().view : problem.views.of(problem.inputs.front().view).view;
  const auto axes = problem.given.has("axes") ? problem.given.dims("axes") : tmajit::Dims{0};
  const auto rank = selected.rank;
  const auto dimension =
      static_cast<std::uint32_t>(axes[input - 1] < 0 ? axes[input - 1] + rank : axes[input - 1]);
  std::uint64_t extent = selected.shape.at(dimension);
  if (problem.given.text("flat") == "yes") {
    for (std::uint32_t k = 1; k < axes.size() && dimension + k < rank; ++k)
      extent *= selected.shape.at(dimension + k);
  }
  return extent;
}

}  // namespace

InputRole role_of(const tmajit::OperationInfo& operation, bool ragged, std::size_t input, std::size_t count) {
  if (!operation.has_indices || input == 0) return InputRole::elements;
  if (ragged && input + 1 == count && input > 1) return InputRole::offsets;
  return operation.has_weights && input == 2 ? InputRole::weights : InputRole::indices;
}

tmajit::Dims indexed_axes(const ProblemOptions& options) {
  const auto& given = options.argument("--axes");
  return given.empty() ? tmajit::Dims{0} : tmajit::parse_numbers(given, "--axes");
}

Shape index_shape(const ProblemOptions& options, const Shape& first, bool scatters) {
  if (!options.index_shape.empty()) return parse_extents(options.index_shape, "--index-shape");
  if (options.argument("--along") == "yes") return first;
  const auto axes = indexed_axes(options);
  // The source of a scatter has one dimension, the index tensors', in place of the indexed ones.
  const std::size_t rank = first.size() - (scatters && !first.empty() ? 1 : 0) + (scatters ? axes.size() : 0);
  const std::int64_t axis = axes[0] < 0 ? axes[0] + static_cast<std::int64_t>(rank) : axes[0];
  const bool exists = axis >= 0 && axis < static_cast<std::int64_t>(first.size());
  std::uint64_t extent = exists ? first[static_cast<std::size_t>(axis)] : 1;
  // Flat axes of a gather have an index for each of their elements.
  if (!scatters && exists && options.argument("--flat") == "yes") {
    for (auto k = static_cast<std::size_t>(axis) + 1; k < axis + axes.size() && k < first.size(); ++k)
      extent *= first[k];
  }
  return {extent};
}

Shape offsets_shape(const Shape& index) {
  const std::uint64_t indices = index.empty() ? 1 : index.back();
  return {indices / 8 + 2};
}

void fill_with_offsets(std::span<std::byte> elements, const Problem& problem, std::size_t input,
                       std::uint64_t seed) {
  const std::uint64_t indices = problem.inputs[1].view.elements();
  const std::size_t size = tmajit::size_of(problem.inputs[input].view.type);
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> offsets(elements.size() / size);
  for (std::uint64_t& offset : offsets) offset = random() % (indices + 1);
  std::ranges::sort(offsets);
  if (!offsets.empty()) {
    offsets.front() = 0;
    offsets.back() = indices;
  }
  for (std::size_t i = 0; i < offsets.size(); ++i) std::memcpy(elements.data() + i * size, &offsets[i], size);
}

void fill_with_places(std::span<std::byte> elements, const Problem& problem, std::size_t input,
                      std::uint64_t seed) {
  const bool scatters = problem.request.operation->reads_destination;
  const bool has_experts = problem.operation_name == tmajit::MoePermute::operation;
  const std::uint64_t extent =
      has_experts ? problem.given.count("count") : selected_extent(problem, input, scatters);
  const auto type = problem.inputs[input].view.type;
  const std::size_t size = tmajit::size_of(type);
  const std::uint64_t count = elements.size() / size;
  if (extent == 0) return;
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> places;
  if (scatters && count <= extent) {
    places.resize(extent);
    std::iota(places.begin(), places.end(), 0);
    std::ranges::shuffle(places, random);
  }
  // Negative ids of experts do not count from the end.
  const bool is_signed =
      !has_experts && (type == tmajit::ElementType::i32 || type == tmajit::ElementType::i64);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t place = places.empty() ? random() % extent : places[i];
    const auto number = static_cast<std::int64_t>(is_signed && random() % 4 == 0 ? place - extent : place);
    std::memcpy(elements.data() + i * size, &number, size);
  }
}

}  // namespace jitc
