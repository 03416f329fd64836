#pragma once

#include <tmajit/runtime.hpp>
#include <tmajit/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tests {

/// Copies of tensors of different sizes, between two pieces of memory.
struct RandomBatch {
  struct Part {
    tmajit::TensorView view;
    std::uint64_t offset = 0;  ///< bytes from the memory's beginning to the element with all indices 0
  };
  std::vector<Part> destinations;
  std::vector<Part> sources;
  std::uint64_t destination_bytes = 0;
  std::uint64_t source_bytes = 0;
  [[nodiscard]] std::string text() const;
};

enum class BatchKind : std::uint8_t {
  mixed,    ///< anything: padded rows, odd addresses, elements apart, rows backwards, repeated rows
  aligned,  ///< what tensor maps describe
  tiny,     ///< thousands of a few elements
  skewed,   ///< one huge among many small ones
};

/// Of one rank and element type; some tensors are empty. About `most` elements in all.
[[nodiscard]] RandomBatch random_batch(BatchKind kind, std::uint64_t seed, std::uint64_t most);

/// The batch on a device, and in host memory.
class PlacedBatch {
 public:
  PlacedBatch(const std::shared_ptr<tmajit::Device>& device, const RandomBatch& batch, std::uint64_t seed);
  [[nodiscard]] std::vector<tmajit::Tensor> destinations() const;
  [[nodiscard]] std::vector<tmajit::Tensor> sources() const;
  /// Empty if the destinations' memory, that beside their elements too, is what the batch leaves.
  [[nodiscard]] std::string difference() const;
  /// The destinations' memory as it was at first.
  void clear();

 private:
  const RandomBatch& batch_;
  std::shared_ptr<tmajit::Device> device_;
  tmajit::Buffer to_, from_;
  std::vector<std::byte> before_, source_;
};

/// Runs it once, by as few CTAs as such a chip has room for, so that each has several tiles.
void launch_batch(const tmajit::Runtime& runtime, const PlacedBatch& batch, std::uint32_t sm_count);

/// Runs it as one call. Empty if the result is right.
[[nodiscard]] std::string run_batch(const tmajit::Runtime& runtime, const RandomBatch& batch,
                                    std::uint64_t seed);

}  // namespace tests
