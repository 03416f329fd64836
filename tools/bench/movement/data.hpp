#pragma once

#include "case.hpp"

#include <tmajit/device.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace movement {

/// Random bytes that repeat after a prime number of 8-byte words, so that a wrong index, off by extents and
/// products of extents, meets other bytes. Floating-point elements are finite and |x| < 2.
class Pattern {
 public:
  Pattern(tmajit::ElementType type, std::uint64_t seed);
  /// Writes it over `bytes`, a multiple of 8, at `address`.
  void fill(tmajit::Device& device, tmajit::DevicePtr address, std::uint64_t bytes,
            tmajit::Stream stream) const;
  /// The element at byte `offset` of what fill() wrote; contiguous up to `size_of(type)`.
  [[nodiscard]] const std::byte* at(std::uint64_t offset) const;

 private:
  std::vector<std::byte> bytes_;
};

/// Compares parts of the destinations with what the host computes from the pattern: the ends and random
/// places, or everything if it is small. Returns what is wrong, or nothing.
std::string check(const Case& c, const Pattern& pattern, tmajit::Device& device,
                  tmajit::DevicePtr destination, std::uint64_t seed, tmajit::Stream stream);

}  // namespace movement
