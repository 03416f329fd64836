#pragma once

#include "case.hpp"

#include <tmajit/operation.hpp>

#include <cstdint>
#include <string>

namespace bench {

/// An operation of an application, of the kinds that shipped packs are made for.
struct RandomProblem {
  std::string group;  ///< "permute f32", "cast", "reduce"
  Case made;
  bool is_shifted;     ///< the tensors begin one element after the start of their buffers
  bool may_be_served;  ///< every kernel that can do it stores the same bits (WhenMissing::serve)

  /// The operation on buffers that begin at these addresses, multiples of 256.
  [[nodiscard]] tmajit::Operation at(tmajit::DevicePtr destination, tmajit::DevicePtr source) const;
  /// The operation at addresses for plans that are never run.
  [[nodiscard]] tmajit::Operation operation() const;
};

/// The kinds of problems to draw.
enum class ProblemKinds {
  all,         ///< of 24 problems 18 moves, 3 reductions, 2 scans and a broadcast
  moves,       ///< permutations, pads, slices, flips and concats of f32, bf16 and u8, and casts, in turn
  reductions,  ///< sums along random axes
};

/// Problem `number` of the sequence that `seed` determines. One problem in four is small (at most 4096
/// elements). The tensors of one problem in four begin one element after a multiple of 256 bytes.
[[nodiscard]] RandomProblem random_problem(ProblemKinds kinds, std::uint64_t seed, std::uint64_t number);

}  // namespace bench
