#include "operations/cases.hpp"

#include <algorithm>
#include <array>

namespace reference::moe_permute_operation {

using namespace tmajit;

namespace {

/// Draws tokens of rows of one to three dimensions, with more experts than slots or fewer. In some cases the
/// destination has fewer rows than the tokens need.
void draw_test_case(TestCaseDraw& draw) {
  Random& random = draw.kernel_property_random;
  Random& launch = draw.launch_parameter_random;
  const Shape row = draw.tensor_shape(1, one_in(random, 4) ? 4 : 2);
  const std::uint64_t slots = one_in(random, 3) ? 1 : between(random, 1, 12);
  const std::uint64_t budget = draw.element_limit / std::max<std::uint64_t>(element_count(row), 1);
  const std::uint64_t most = std::clamp<std::uint64_t>(budget / (slots + 1), 1, 2000);
  std::uint64_t tokens = draw.extent(between(random, 1, most));
  if (one_in(launch, 60)) tokens = 0;
  const std::uint64_t experts = draw.extent(between(random, 1, one_in(random, 5) ? 700 : 40));
  const std::uint64_t alignment = one_of(launch, std::array{1, 1, 2, 3, 8, 16});
  const std::uint64_t pairs = tokens * slots;
  std::uint64_t rows = pairs + std::min(pairs, experts) * (alignment - 1);
  if (one_in(launch, 4)) rows = between(launch, 0, rows + 3);
  const bool one_slot = slots == 1 && one_in(random, 2);  // ids without a dimension of slots
  const Shape ids = one_slot ? Shape{tokens} : Shape{tokens, slots};
  const auto with_rows = [&](std::uint64_t count) {
    Shape shape = row;
    shape.insert(shape.begin(), count);
    return shape;
  };
  constexpr std::array id_types{ElementType::i64, ElementType::i32, ElementType::u32, ElementType::u64};
  draw.add_destination(draw.view(draw.type, with_rows(rows), false));
  draw.add_destination(draw.view(ElementType::i32, ids, false));
  draw.add_destination(draw.view(ElementType::i32, {experts}, false));
  draw.add_destination(draw.view(ElementType::i32, {experts + 1}, false));
  draw.add_source(draw.view(draw.same_size_type(), with_rows(tokens), true));
  draw.add_source(draw.view(one_of(random, id_types), ids, true));
  draw.test_case.indices = {{.source = 1, .extent = experts, .outside = one_in(launch, 2)}};
  draw.test_case.arguments = {{"count", static_cast<std::int64_t>(experts)},
                              {"alignment", static_cast<std::int64_t>(alignment)}};
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case};

}  // namespace reference::moe_permute_operation
