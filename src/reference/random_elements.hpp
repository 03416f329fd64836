#pragma once

#include <tmajit/element_type.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace reference {

/// Pseudo-random elements of one type: integers of every bit pattern; finite floats of an absolute value
/// below 2, at most 15 powers of two below 1 wherever the format reaches that far, so that sums and casts to
/// a narrower type keep something of most values. The same seed gives the same bytes.
class RandomElements {
 public:
  RandomElements(tmajit::ElementType type, std::uint64_t seed) : type_(type), random_(seed) {}
  /// Fills `elements` with the next of them. All pieces but the last are multiples of 8 bytes.
  void fill(std::span<std::byte> elements);

 private:
  tmajit::ElementType type_;
  std::mt19937_64 random_;
};

/// Data for tensors of any size, of which the host keeps a few megabytes: random elements that repeat after a
/// prime number of pages of memory, so that a wrong index, off by extents and products of extents, meets
/// other bytes.
class Pattern {
 public:
  Pattern(tmajit::ElementType type, std::uint64_t seed);
  /// The bytes that fill memory, repeated.
  [[nodiscard]] std::span<const std::byte> period() const;
  /// The element at byte `offset` of memory that was filled so; contiguous up to 8 bytes.
  [[nodiscard]] const std::byte* at(std::uint64_t offset) const;

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace reference
