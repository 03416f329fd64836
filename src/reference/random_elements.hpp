#pragma once

#include <tmajit/element_type.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace reference {

/// Pseudo-random elements of one type: integers of any bit pattern, or finite floats. The exponents of floats
/// are 0 to −15, as far as the format has them, so that sums and casts to a narrower type do not lose most
/// values. The same seed gives the same bytes.
class RandomElements {
 public:
  RandomElements(tmajit::ElementType type, std::uint64_t seed) : type_(type), random_(seed) {}
  /// Fills `elements` with the next elements. Except in the last call, its size is a multiple of 8 bytes.
  void fill(std::span<std::byte> elements);

 private:
  tmajit::ElementType type_;
  std::mt19937_64 random_;
};

/// Data for tensors of any size, for which the host stores only a few megabytes: random elements that repeat
/// after a prime number of memory pages. So an index that is wrong by products of extents finds different
/// bytes.
class Pattern {
 public:
  Pattern(tmajit::ElementType type, std::uint64_t seed);
  /// The bytes with which memory is filled, repeatedly.
  [[nodiscard]] std::span<const std::byte> period() const;
  /// The element at byte `offset` of the filled memory; up to 8 bytes from there are contiguous.
  [[nodiscard]] const std::byte* at(std::uint64_t offset) const;

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace reference
