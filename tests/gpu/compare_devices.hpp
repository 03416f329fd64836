#pragma once

#include "gpu/random_kernels.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/device.hpp>
#include <tmajit/sim.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gpu {

/// A random kernel with its inputs, all drawn from one number.
struct ComparedCase {
  std::uint64_t number = 0;
  RandomKernel kernel;
  std::vector<reference::Tensor> inputs;
  Offsets offsets = {};  ///< bytes from the beginning of an allocation to a tensor's first element
};

/// Case `number` of a family. It depends only on `seed` and `number`.
[[nodiscard]] ComparedCase compared_case(const tmajit::FamilyInfo& family, std::uint64_t seed,
                                         std::uint64_t number);
/// Describes a case completely, so that it can be repeated by hand.
[[nodiscard]] std::string describe(const ComparedCase& compared);

struct Comparison {
  std::uint64_t seed = 0;
  std::uint64_t cases_per_family = 0;
  std::uint32_t threads = 1;  ///< host threads, which share the cases among them
  /// The device that is compared with the simulated devices. One thread uses it at a time.
  std::shared_ptr<tmajit::Device> device;
  tmajit::SimOptions options{};  ///< options of the simulated devices; mode and seed change from case to case
  tmajit::CompileOptions compile{};  ///< options of the kernels, which both devices run
};

/// Runs every case of every tile family on both devices. A case is a mismatch if any output byte differs
/// (gaps between rows included), if it fails on a device, or if the simulated device reports a mistake. Calls
/// `mismatch` with a text for each, from one thread at a time. Ends early after 20 mismatches, or when
/// `device` fails, because a GPU does not recover from that. Returns the number of cases that both devices
/// have run.
std::uint64_t compare_with_simulation(const Comparison& comparison,
                                      const std::function<void(const std::string&)>& mismatch);

}  // namespace gpu
