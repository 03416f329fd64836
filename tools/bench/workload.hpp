#pragma once

#include "bench.hpp"
#include "cases.hpp"
#include "race.hpp"

#include <string>
#include <vector>

namespace bench {

/// The operands of a case at one size, in as many sets as the plan rotates through, and for the reference
/// two buffers a set that are half as large as everything the case moves.
class Workload {
 public:
  /// `output_bytes` of a set; a snapshot's depends on its tile.
  Workload(Gpu& gpu, const Case& c, std::uint64_t size, const Plan& plan, std::uint64_t output_bytes,
           std::uint64_t reference_bytes, std::uint64_t seed);

  /// One launch a set.
  [[nodiscard]] std::vector<tmajit::PreparedLaunch> prepare(const tmajit::Kernel& kernel,
                                                            const tmajit::KernelSpec& spec) const;
  /// Runs the first set's launch over poisoned output and compares with the host. Returns what is wrong,
  /// or an empty string.
  [[nodiscard]] std::string check(const tmajit::PreparedLaunch& launch, const tmajit::KernelSpec& spec) const;

  /// Enqueues the reference's copy of set `set`.
  void copy(std::size_t set) const;

 private:
  [[nodiscard]] std::string check_elements() const;
  [[nodiscard]] std::string check_tiles(const tmajit::KernelSpec& spec) const;

  Gpu& gpu_;
  Case case_;
  std::vector<tmajit::TensorView> inputs_;
  std::uint64_t seed_;
  std::size_t sets_;
  std::uint64_t output_pitch_;
  std::uint64_t reference_bytes_;
  std::vector<tmajit::Buffer> input_buffers_;
  tmajit::Buffer output_buffer_;
  tmajit::Buffer reference_source_;
  tmajit::Buffer reference_destination_;
};

/// The view that a kernel of `spec` writes.
tmajit::TensorView output_of(const Case& c, const tmajit::KernelSpec& spec, std::uint64_t size);
/// Bytes that a launch reads and writes, each element once.
std::uint64_t bytes_moved(const Case& c, const tmajit::KernelSpec& spec, std::uint64_t size);

}  // namespace bench
