#pragma once

#include <tmajit/move.hpp>

#include <cstdint>
#include <span>
#include <vector>

TMAJIT_BEGIN

/// The tensors that an operation was given, and where in them the tensors of its moves lie: a concatenation
/// is many moves into parts of one destination, a slice begins somewhere in its source. So a plan can be
/// given new addresses of the same tensors. Addresses are those of elements with all indices 0.
class GivenTensors {
 public:
  /// Every tensor of the moves is given, in order.
  [[nodiscard]] static GivenTensors of(std::span<const Move> moves);
  /// Made of these, whose parts the moves' tensors are: a move's destination lies in its own or, if there is
  /// only one, that destination; its source k in source k, or in its move's where each move has one.
  [[nodiscard]] static GivenTensors of(std::span<const Move> moves, std::span<const Tensor> destinations,
                                       std::span<const Tensor> sources);

  /// Addresses of the moves' tensors: the destinations, and the sources of each move in order.
  struct Addresses {
    std::vector<DevicePtr> destinations;
    std::vector<DevicePtr> sources;
  };
  /// Throws Error{invalid_argument} if there are not as many addresses as tensors were given.
  [[nodiscard]] Addresses at(std::span<const DevicePtr> destinations,
                             std::span<const DevicePtr> sources) const;

 private:
  struct Place {
    std::uint32_t tensor = 0;  ///< of those given
    std::uint64_t offset = 0;  ///< bytes from its address, modulo 2^64
  };
  std::size_t destinations_ = 0;
  std::size_t sources_ = 0;
  std::vector<Place> destination_of_;  ///< of each move
  std::vector<Place> source_of_;       ///< of each move's sources, in order
};

/// plan_moves() for an operation that was given other tensors than its moves have.
[[nodiscard]] MovePlan plan_moves(Runtime& runtime, std::span<const Move> moves, GivenTensors given);

TMAJIT_END
