#include "operations/cases.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace reference::top_k_operation {

using namespace tmajit;
using bench::Case, bench::CaseBuilder;

namespace {

/// Draws rows of any values: random bits have NaN, infinities and denormals, small whole numbers are equal.
void draw_test_case(TestCaseDraw& draw) {
  Random& random = draw.kernel_property_random;
  Random& launch = draw.launch_parameter_random;
  draw.test_case.contents =
      one_of(random, std::array{Contents::bits, Contents::bits, Contents::whole, Contents::units});
  draw.test_case.has_nan = one_in(random, 2);
  Shape shape = one_in(random, 4) ? draw.tensor_shape(1, 8) : draw.tensor_shape(1, 3);
  const auto rank = static_cast<std::int64_t>(shape.size());
  const auto axis =
      static_cast<std::size_t>(one_in(random, 3) ? between(random, 0, shape.size() - 1) : shape.size() - 1);
  const ElementType type = draw.any_type();
  const std::uint64_t rarely_empty = between(launch, 0, 59);
  const std::uint64_t most = std::min<std::uint64_t>(shape[axis], 2048);
  std::uint64_t k = 1;
  switch (between(random, 0, 4)) {
    case 0: break;
    case 1: k = most; break;
    case 2: k = between(launch, 1, most); break;
    default: k = between(launch, 1, std::min<std::uint64_t>(most, 32));
  }
  if (rarely_empty == 0 && shape.size() > 1) shape[axis == 0 ? 1 : 0] = 0;
  const bool largest = one_in(random, 2);
  const auto index = one_of(random, std::array<std::string_view, 4>{"", "i32", "i64", "no"});
  draw.test_case.arguments = {{"k", static_cast<std::int64_t>(k)},
                              {"axis", static_cast<std::int64_t>(axis) - (one_in(random, 3) ? rank : 0)},
                              {"largest", std::string(largest ? "yes" : "no")}};
  if (!index.empty()) draw.test_case.arguments.set("index", std::string(index));
  Shape results = shape;
  results[axis] = k;
  // Most tensors of such calls are dense; draw.view() has any strides.
  const auto add = [&](ElementType of, const Shape& extents, bool source) {
    const TensorView view =
        one_in(random, 2) ? draw.row_major_view(of, extents) : draw.view(of, extents, source);
    source ? draw.add_source(view) : draw.add_destination(view);
  };
  add(type, results, false);
  if (index != "no") add(index == "i32" ? ElementType::i32 : ElementType::i64, results, false);
  add(type, shape, true);
}

Case top_k_case(const char* group, ElementType type, const Shape& shape, std::uint64_t k) {
  return bench::make_case(group, fmt::format("{} of ({})", k, fmt::join(shape, ",")), "top_k",
                          {{type, shape}}, {{"k", static_cast<std::int64_t>(k)}});
}

/// Lists routers of mixtures of experts, and vocabularies of language models.
void add_benchmark_cases(CaseBuilder& list) {
  const auto n = [&](std::uint64_t extent) { return list.tiny() ? 20 + extent % 97 : extent; };
  list.add(top_k_case("top_k", ElementType::f32, {n(16384), n(256)}, 8)).peers = bench::Peers::none;
  list.add(top_k_case("top_k", ElementType::bf16, {n(65536), n(128)}, 8)).peers = bench::Peers::none;
  list.add(top_k_case("top_k", ElementType::bf16, {n(256), n(128256)}, list.tiny() ? 8 : 64)).peers =
      bench::Peers::none;
  list.add(top_k_case("top_k", ElementType::f32, {n(256), n(32768)}, list.tiny() ? 8 : 64)).peers =
      bench::Peers::none;
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case, .add_benchmark_cases = add_benchmark_cases};

}  // namespace reference::top_k_operation
