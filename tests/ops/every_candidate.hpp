#pragma once

#include "plan/all_candidates.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/runtime.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tests {

/// A tensor in an allocation that ends with the tensor.
struct MoveOperand {
  tmajit::TensorView view;
  std::uint64_t shift = 0;  ///< bytes from the allocation's beginning to the tensor's lowest element
};

[[nodiscard]] MoveOperand move_operand(tmajit::ElementType type, const std::vector<std::uint64_t>& shape,
                                       const std::vector<std::int64_t>& strides, std::uint64_t shift = 0);

/// A runtime on a simulated device that schedules threads in random order. It compiles to PTX only.
[[nodiscard]] tmajit::Runtime random_order_runtime();

/// Launches the kernel of a candidate.
void launch(tmajit::Runtime& runtime, const tmajit::Problem& problem, const tmajit::Candidate& candidate);

/// Runs the planner's candidates for one move, not only the one that the cost model chooses. The tensors are
/// in separate allocations on a device and, for the reference, in host memory. With a small `sm_count` each
/// CTA processes more tiles.
class EveryCandidate {
 public:
  EveryCandidate(tmajit::Runtime& runtime, const MoveOperand& destination,
                 const std::vector<MoveOperand>& sources, std::string expression = {},
                 std::optional<tmajit::Padding> padding = std::nullopt, std::uint32_t sm_count = 132);

  /// Runs a candidate. Describes wrong bytes of its result, including those in gaps of the destination; empty
  /// if all are right.
  [[nodiscard]] std::string run(const tmajit::Candidate& candidate);
  [[nodiscard]] const tmajit::Problem& problem() const { return problem_; }
  [[nodiscard]] const std::vector<tmajit::Candidate>& candidates() const { return candidates_; }

 private:
  [[nodiscard]] tmajit::Tensor place(const MoveOperand& operand);
  /// The counterpart in host memory of tensor `i`.
  [[nodiscard]] tmajit::Tensor host(const tmajit::Tensor& tensor, std::size_t i);

  tmajit::Runtime& runtime_;
  std::vector<tmajit::Buffer> buffers_;
  std::vector<std::vector<std::byte>> host_;
  tmajit::Move move_;
  tmajit::Problem problem_;
  std::vector<tmajit::Candidate> candidates_;
};

/// A permutation of a tensor that is dense or has gaps after rows, of random rank, extents and element size.
/// In half of the cases every stride is a multiple of 16 bytes.
struct RandomPermutation {
  MoveOperand destination;
  MoveOperand source;
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] RandomPermutation random_permutation(std::uint64_t seed, std::uint64_t max_elements);

}  // namespace tests
