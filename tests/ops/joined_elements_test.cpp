/// Permutations that keep the last dimension, which has a few elements. If the addresses allow it, these
/// elements move as one wider element, else one by one.
#include "operations/references.hpp"
#include "ops/every_candidate.hpp"
#include "ptx_alone.hpp"

#include <tmajit/error.hpp>
#include <tmajit/move.hpp>
#include <tmajit/sim.hpp>

#include <algorithm>
#include <memory>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <spdlog/fmt/fmt.h>

using namespace tmajit;

namespace {

using Bytes = std::vector<std::byte>;
constexpr std::array axes{1U, 0U, 2U};

class JoinedElements {
 public:
  /// Permutes a [37][29][joined] tensor to [29][37][joined]. The destination begins `shift` elements after a
  /// multiple of 256 bytes.
  void check(ElementType type, std::uint64_t joined, std::uint64_t shift) {
    const std::array<std::uint64_t, 3> from{37, 29, joined};
    const std::array<std::uint64_t, 3> to{29, 37, joined};
    const TensorView source = TensorView::contiguous(type, from);
    const TensorView destination = TensorView::contiguous(type, to);
    const std::uint64_t before = shift * size_of(type);
    const Buffer source_buffer(device_, source.span_bytes());
    const Buffer buffer(device_, before + destination.span_bytes());

    Bytes given(source.span_bytes());
    for (std::size_t n = 0; n < given.size(); ++n) given[n] = std::byte(n * 37 % 251);
    Bytes expected(before + destination.span_bytes(), std::byte{0xee});
    device_->memory().copy_in(source_buffer.address(), given, nullptr);
    device_->memory().copy_in(buffer.address(), expected, nullptr);
    const auto host = [](Bytes& bytes) { return reinterpret_cast<DevicePtr>(bytes.data()); };
    reference::compute(
        operation::permute({destination, host(expected) + before}, {source, host(given)}, axes).moves[0]);

    const Plan transpose_plan = plan(runtime_, operation::permute({destination, buffer.address() + before},
                                                                  {source, source_buffer.address()}, axes));
    transpose_plan();
    device_->streams().synchronize(nullptr);
    Bytes found(expected.size());
    device_->memory().copy_out(found, buffer.address(), nullptr);
    CHECK(found == expected);

    const std::uint64_t width = joined * size_of(type);
    const std::string sentence = fmt::format("{} elements of {} that stay together move as one of {} bytes.",
                                             joined, name(type), width);
    const auto rewrites = transpose_plan.explain().steps.front().rewrites;
    const bool wide = width <= 16 && before % width == 0 && (joined & (joined - 1)) == 0;
    CHECK(std::ranges::count(rewrites, sentence) == (wide ? 1 : 0));
  }

 private:
  std::shared_ptr<Device> device_ = make_sim_device({.threads = 1});
  Runtime runtime_{
      {.device = device_, .cache_directory = tests::shared_kernels(), .compile = tests::ptx_without_lines}};
};

}  // namespace

TEST_CASE("2 to 16 elements that stay together, of up to 16 bytes, move as one wider element") {
  JoinedElements moves;
  for (const ElementType type : all_element_types) {
    for (const std::uint64_t joined : {2U, 4U, 8U, 16U}) {
      if (joined * size_of(type) > 16) continue;
      INFO(joined << " of " << name(type));
      moves.check(type, joined, 0);
      moves.check(type, joined, joined);
    }
  }
}

TEST_CASE("elements that stay together but are misaligned, or no power of two, move one by one") {
  JoinedElements moves;
  for (const ElementType type : {ElementType::u8, ElementType::bf16, ElementType::f32, ElementType::f64}) {
    INFO(name(type));
    moves.check(type, 2, 1);
    moves.check(type, 3, 0);
    moves.check(type, 16 / size_of(type), 1);
  }
}

TEST_CASE("every candidate moves elements of 16 bytes") {
  Runtime runtime({.device = make_sim_device({.threads = 1}),
                   .cache_directory = tests::shared_kernels(),
                   .compile = tests::ptx_without_lines});
  // Axes (2, 0, 1, 3) of 5x41x33x2.
  tests::EveryCandidate move(runtime, tests::move_operand(ElementType::f64, {33, 5, 41, 2}, {410, 82, 2, 1}),
                             {tests::move_operand(ElementType::f64, {33, 5, 41, 2}, {2, 2706, 66, 1})});
  REQUIRE(move.problem().element_bytes(0) == 16);
  for (const Candidate& candidate : move.candidates()) {
    INFO(tests::choice_text(candidate));
    CHECK(move.run(candidate) == "");
  }
}
