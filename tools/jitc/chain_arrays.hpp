#pragma once

#include "chain.hpp"
#include "device_arrays.hpp"

#include <tmajit/operation.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace jitc {

/// An output of a chain's operation, compared with the CPU.
struct ComparedOutput {
  const Array* array;
  Difference difference;
};

/// The arrays of a chain on a device. Intermediate results have memory, whether kernels write them or not.
class ChainArrays {
 public:
  ChainArrays(const std::shared_ptr<tmajit::Device>& device, const Chain& chain, std::uint64_t seed);

  /// Addresses of each step's arrays.
  [[nodiscard]] std::vector<Addresses> addresses() const;
  [[nodiscard]] const DeviceArrays& first() const { return *steps_.front(); }
  [[nodiscard]] const DeviceArrays& last() const { return *steps_.back(); }
  void reset_outputs() const;

  /// Compares the outputs with the CPU's, which computes the chain's operations one by one. `operations` ran
  /// on the device: they say which intermediate results are written, and how far elements may differ. An
  /// intermediate result that a kernel writes is compared, and the CPU continues with the device's elements.
  /// One that no kernel writes must have its previous content.
  [[nodiscard]] std::vector<ComparedOutput> compare_outputs(
      std::span<const tmajit::Operation> operations) const;

 private:
  const Chain& chain_;
  std::vector<std::unique_ptr<DeviceArrays>> steps_;
};

}  // namespace jitc
