/// Moves that kernels once got wrong, found by random moves; small, without randomness, on the simulated
/// device, which reports what lies outside of its allocations. Every candidate runs, whichever the cost model
/// would take.
#include "ops/move_plan.hpp"
#include "plan/move_kernel.hpp"
#include "reference/moves.hpp"

#include <tmajit/error.hpp>
#include <tmajit/sim.hpp>

#include <memory>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

using Shape = std::vector<std::uint64_t>;
using Strides = std::vector<std::int64_t>;
using Bytes = std::vector<std::byte>;

constexpr auto u8 = ElementType::u8;
constexpr auto u16 = ElementType::u16;
constexpr auto f32 = ElementType::f32;

/// A tensor and the first and last byte of an allocation that just holds it.
struct Operand {
  TensorView view;
  std::uint64_t shift = 0;  ///< bytes from the allocation's beginning to its lowest element
};

Operand operand(ElementType type, const Shape& shape, const Strides& strides, std::uint64_t shift = 0) {
  return {TensorView::strided(type, shape, strides), shift};
}

/// Bytes from an operand's lowest element to that with all indices 0, and to the end of the highest.
struct Extent {
  std::uint64_t first = 0;
  std::uint64_t bytes = 0;
};
Extent extent_of(const TensorView& view) {
  Extent extent{0, size_of(view.type)};
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    const std::int64_t last =
        view.strides[d] * static_cast<std::int64_t>((view.shape[d] - 1) * size_of(view.type));
    if (last < 0) extent.first += static_cast<std::uint64_t>(-last);
    extent.bytes += static_cast<std::uint64_t>(last < 0 ? -last : last);
  }
  return extent;
}

/// One move, its tensors in allocations of their own on a simulated device and in host memory.
class FoundMove {
 public:
  FoundMove(const Operand& destination, const std::vector<Operand>& sources, std::string expression = {},
            std::optional<Padding> padding = std::nullopt)
      : move_{.destination = place(destination),
              .sources = {},
              .expression = std::move(expression),
              .padding = std::move(padding)} {
    for (const Operand& source : sources) move_.sources.push_back(place(source));
  }

  [[nodiscard]] reference::HostView host(std::size_t i) {
    const Tensor& tensor = i == 0 ? move_.destination : move_.sources[i - 1];
    return {tensor.view, host_[i].data() + (tensor.address - buffers_[i].address())};
  }

  /// Runs every candidate. The destination's bytes, gaps too, must be as in host memory, where the caller has
  /// done the move.
  void check(std::string_view kernel) {
    const MoveProblem problem = move_problem(move_);
    for (const MoveCandidate& candidate : move_candidates(problem)) {
      INFO(candidate.kernel.choice());
      CHECK(name(candidate.kernel.method) == kernel);
      device_->copy_in(buffers_[0].address(), Bytes(host_[0].size(), fill), nullptr);
      planned_with(runtime_, problem, candidate).launch(nullptr);
      device_->synchronize(nullptr);
      Bytes found(host_[0].size());
      device_->copy_out(found, buffers_[0].address(), nullptr);
      CHECK(found == host_[0]);
    }
  }

 private:
  static constexpr std::byte fill{0xee};

  Tensor place(const Operand& operand) {
    const Extent extent = extent_of(operand.view);
    const std::size_t i = buffers_.size();
    buffers_.emplace_back(device_, operand.shift + extent.bytes);
    host_.emplace_back(operand.shift + extent.bytes, fill);
    // Sources hold what no two places near each other share; small, so that floats of them are finite.
    if (i > 0) {
      for (std::size_t n = 0; n < host_[i].size(); ++n) host_[i][n] = std::byte(n * 37 % 113);
      device_->copy_in(buffers_[i].address(), host_[i], nullptr);
    }
    return {operand.view, buffers_[i].address() + operand.shift + extent.first};
  }

  std::shared_ptr<Device> device_ = make_sim_device({.threads = 1});
  Runtime runtime_{{.device = device_, .cache_directory = std::nullopt}};
  std::vector<Buffer> buffers_;
  std::vector<Bytes> host_;
  Move move_;
};

}  // namespace

TEST_CASE("found: a staggered row's last tile, which begins outside, writes nothing") {
  // Rows end 5 elements before the end of a tile, whichever the candidate, and begin at every place from 0 to
  // 15 of 16: those that begin early leave nothing for the tile that the others need for their ends.
  FoundMove move(operand(u8, {16, 8187}, {8193, 1}), {operand(u8, {16, 8187}, {8192, 1})});
  reference::copy(move.host(0), move.host(1));
  move.check("general");
}

TEST_CASE("found: a single element is stored at its own place, wherever that is") {
  for (std::uint64_t shift = 0; shift < 16; ++shift) {
    INFO(shift << " bytes");
    FoundMove move(operand(u8, {1}, {1}, shift), {operand(u8, {1}, {1})});
    reference::copy(move.host(0), move.host(1));
    move.check("general");
  }
}

TEST_CASE("found: a column of elements that are apart is stored in its own rows") {
  FoundMove move(operand(u16, {1, 1}, {7, 3}, 6), {operand(u16, {1, 1}, {5, 9}, 2)});
  reference::copy(move.host(0), move.host(1));
  move.check("general");
}

TEST_CASE("found: what lies around a repeated source is the padding alone") {
  FoundMove bytes(operand(u8, {4, 20}, {20, 1}), {operand(u8, {4, 5}, {1, 0})}, {}, Padding{{0, 3}, 9});
  reference::pad(bytes.host(0), bytes.host(1), std::vector<std::int64_t>{0, 3}, 9);
  bytes.check("general");

  FoundMove floats(operand(f32, {6, 12}, {12, 1}), {operand(f32, {3, 7}, {1, 0})}, {}, Padding{{2, -2}, 1.5});
  reference::pad(floats.host(0), floats.host(1), std::vector<std::int64_t>{2, -2}, 1.5);
  floats.check("general");
}

TEST_CASE("found: one source's lines run forwards, another's along the same dimension backwards") {
  const auto minus = [](std::span<const reference::Scalar> x, std::span<const std::uint64_t>) {
    return reference::scalar(std::get<std::uint16_t>(x[0]) - std::get<std::uint16_t>(x[1]));
  };
  for (const std::int64_t first : {1, -1}) {
    INFO("the first source's step is " << first);
    // Odd rows of several tiles: images hold what comes before a tile, too. Sources repeat in the first
    // dimension.
    FoundMove move(operand(u16, {2, 24, 151}, {24 * 151, 151, 1}),
                   {operand(u16, {2, 24, 151}, {0, first, 24}), operand(u16, {2, 24, 151}, {0, -first, 24})},
                   "x0 - x1");
    reference::map(move.host(0), std::vector{move.host(1), move.host(2)}, minus);
    move.check("general");
  }
}

TEST_CASE("found: a transpose's source whose elements lie on each other") {
  // Another dimension is as near as the column.
  for (const std::int64_t near : {1, -1}) {
    INFO("steps of " << near);
    FoundMove move(operand(f32, {20, 24, 16}, {384, 16, 1}), {operand(f32, {20, 24, 16}, {1, near, 64})});
    reference::copy(move.host(0), move.host(1));
    move.check("transpose");
  }
}

TEST_CASE("found: an image of a source whose elements lie on each other") {
  // The dimension that lines run along is too short for blocks, and another is as near, backwards.
  FoundMove move(operand(f32, {6, 2, 7, 37}, {1200, 600, 37, 1}),
                 {operand(f32, {6, 2, 7, 37}, {4, 1, -1, 59})});
  reference::copy(move.host(0), move.host(1));
  move.check("general");
}
