#include "operations/cases.hpp"

#include <algorithm>
#include <utility>

namespace reference::copy_ragged_operation {

using namespace tmajit;

namespace {

/// Draws tensors of one rank and element type in two buffers; some are empty. There are four kinds of cases:
/// any strides and addresses (padded, reversed or repeated rows, elements with gaps, odd addresses); tensors
/// that tensor maps describe; thousands of tensors with a few elements each; one huge tensor among small
/// ones.
void draw_test_case(TestCaseDraw& draw) {
  Random& random = draw.kernel_property_random;
  const bool is_mixed = one_in(random, 3);
  const bool is_tiny = !is_mixed && one_in(random, 3);
  const bool is_skewed = !is_mixed && !is_tiny && one_in(random, 2);
  const std::size_t rank = between(random, 1, is_mixed ? 5 : 3);
  const std::uint64_t most = is_tiny ? draw.limits.elements : draw.element_limit;
  const std::uint64_t count = is_tiny ? between(draw.launch_parameter_random, most / 8, most / 4)
                                      : between(draw.launch_parameter_random, 1, 40);
  const std::uint64_t each = is_skewed ? 64 : std::max<std::uint64_t>(most / count, 1);
  const std::uint64_t huge = is_skewed ? between(draw.launch_parameter_random, 0, count - 1) : count;
  const bool whole_rows = one_in(random, 2);
  // A new sequence, so that each tensor's view depends on the kernel seed alone.
  draw.kernel_property_random = Random(random());
  for (std::uint64_t i = 0; i < count; ++i) {
    Shape shape(rank);
    std::uint64_t left = between(draw.launch_parameter_random, 1, 2 * (i == huge ? most : each));
    for (std::size_t d = rank; d-- > 0;) {
      const std::uint64_t longest =
          std::max<std::uint64_t>(d == 0 ? left : std::min<std::uint64_t>(left, 300), 1);
      shape[d] =
          one_in(draw.launch_parameter_random, 60) ? 0 : between(draw.launch_parameter_random, 1, longest);
      if (d + 1 == rank && whole_rows) shape[d] = round_up(shape[d], 16 / size_of(draw.type));
      left /= std::max<std::uint64_t>(shape[d], 1);
    }
    draw.aligned = !is_mixed || one_in(draw.kernel_property_random, 2);
    draw.may_misalign = is_mixed;
    const auto view = [&](bool is_source) {
      return draw.aligned ? draw.row_major_view(draw.type, shape) : draw.view(draw.type, shape, is_source);
    };
    draw.test_case.destinations.push_back(draw.append(view(false), 0));
    draw.test_case.sources.push_back(draw.append(view(true), 1));
  }
}

/// Tensors of `columns` columns and 1 to 2·mean − 1 rows, with `bytes` in total.
std::vector<bench::Array> sequences(ElementType type, std::uint64_t mean, std::uint64_t columns,
                                    std::uint64_t bytes) {
  std::vector<bench::Array> arrays;
  std::uint64_t rows = 1;
  for (std::uint64_t left = bytes; left > 0;) {
    // A linear congruential generator, so that every run of the benchmark has the same lengths.
    rows = (rows * 1103515245 + 12345) % (2 * mean - 1) + 1;
    arrays.push_back({type, {rows, columns}});
    left -= std::min(left, arrays.back().bytes());
  }
  return arrays;
}

/// Batches of tensors of different sizes, 256 MiB each, copied in one launch.
void add_benchmark_cases(bench::CaseBuilder& list) {
  const auto add = [&](const char* name, const std::vector<bench::Array>& arrays) {
    list.add({.group = "ragged",
              .name = name,
              .operation = "copy_ragged",
              .sources = arrays,
              .destinations = arrays,
              .family = "ragged",
              .peers = bench::Peers::none});
  };
  const std::uint64_t bytes = list.tiny() ? 20'000 : 256 * bench::MiB;
  const std::uint64_t columns = list.tiny() ? 24 : 1024;
  add("sequences of 512 rows of 1024 on average",
      sequences(ElementType::bf16, list.tiny() ? 4 : 512, columns, bytes));
  add("sequences of 8 rows of 1024 on average",
      sequences(ElementType::bf16, list.tiny() ? 2 : 8, columns, bytes));
  add("sequences of rows of 1000 and a half words",
      sequences(ElementType::bf16, list.tiny() ? 4 : 512, list.tiny() ? 13 : 1001, bytes));
  std::vector<bench::Array> skewed(list.tiny() ? 5 : 4096, {ElementType::f32, {3, 64}});
  skewed.push_back({ElementType::f32, {bytes / 256, 64}});
  add("one of all the memory among 4096 of 768 bytes", skewed);
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case, .add_benchmark_cases = add_benchmark_cases};

}  // namespace reference::copy_ragged_operation
