#pragma once

#include <tmajit/kernel_plan.hpp>
#include <tmajit/operation.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ship {

/// A problem of an application, of the kinds that shipped packs are made for.
struct Draw {
  std::string group;  ///< "permute f32", "cast", "reduce"
  tmajit::Operation operation;
};

/// The kinds of problems to draw.
enum class Kinds {
  all,         ///< of 24 problems 18 moves, 3 reductions, 2 scans and a broadcast
  moves,       ///< permutations, pads, slices, flips and concats of f32, bf16 and u8, and casts, in turn
  reductions,  ///< sums along random axes
};

/// Problem `number` of the sequence that `seed` determines. One problem in four is small (at most 4096
/// elements). The tensors of one problem in four begin one element after a multiple of 256 bytes.
[[nodiscard]] Draw draw(Kinds kinds, std::uint64_t seed, std::uint64_t number);

/// The chips that shipped packs are made for.
[[nodiscard]] std::span<const tmajit::Chip> chips();
/// The kernels that a runtime chooses for an operation on a chip, with the choices that come with the
/// library. None if no kernel can do it, as for some reductions of many separate axes.
[[nodiscard]] std::vector<tmajit::KernelPlan> planned(const tmajit::Operation& operation,
                                                      const tmajit::Chip& chip);

}  // namespace ship
