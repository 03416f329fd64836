#pragma once

#include "case.hpp"
#include "reference/random_elements.hpp"

#include <tmajit/device.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace bench {

/// Elements of each part of a large destination that a Check compares.
inline constexpr std::uint64_t compared_part_elements = 1ULL << 14;

/// Value of every byte of the destinations before the checked kernel runs.
inline constexpr std::byte poison{0xA5};

/// Parts of a case's destinations, computed by the operation's reference from sources filled with the
/// pattern: both ends and random parts, or all of a small destination. An expression that the reference does
/// not support is not checked.
class Check {
 public:
  Check(const Case& bench_case, const reference::Pattern& pattern, std::uint64_t seed,
        std::uint64_t part_elements = compared_part_elements);
  Check(const Check&) = delete;
  Check& operator=(const Check&) = delete;
  ~Check();

  /// The first mistake in the destinations on a device, or an empty text.
  [[nodiscard]] std::string wrong(tmajit::Device& device, tmajit::DevicePtr destination,
                                  tmajit::Stream stream) const;
  /// Throws tmajit::Error{internal} that says what is wrong.
  void require_right(tmajit::Device& device, tmajit::DevicePtr destination, tmajit::Stream stream) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Allowed difference between a peer's result and tmajit's, due to the order and precision of roundings,
/// relative to the larger of 1 and the value. Empty if the case computes nothing, or if the reference does
/// not support its expression.
std::optional<double> tolerance(const Case& bench_case);

}  // namespace bench
