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
  Offsets offsets = {};  ///< offsets of first elements from their allocations' beginnings
};

/// Case `number` of a family. It depends only on `seed` and `number`.
[[nodiscard]] ComparedCase compared_case(const tmajit::FamilyInfo& family, std::uint64_t seed,
                                         std::uint64_t number);
/// Describes a case completely, so that it can be repeated by hand.
[[nodiscard]] std::string describe(const ComparedCase& c);

struct Comparison {
  std::uint64_t seed = 0;
  std::uint64_t cases_per_family = 0;
  std::uint32_t threads = 1;  ///< host threads, each with cases of its own
  /// The device that simulated ones are compared with; used by one thread at a time.
  std::shared_ptr<tmajit::Device> device;
  tmajit::SimOptions options{};  ///< options of the simulated devices; mode and seed change from case to case
  tmajit::CompileOptions compile{};  ///< options of the kernels, which both devices run
};

/// Runs every case of every family of tiles on both devices. Calls `mismatch`, from one thread at a time,
/// with the text of each case that differs in any byte of its output (gaps between rows included), fails on a
/// device, or is reported by the simulated one. Ends early after 20 mismatches, and when `device` fails,
/// because a GPU does not recover from that. Returns the number of cases that both devices have run.
std::uint64_t compare_with_simulation(const Comparison& comparison,
                                      const std::function<void(const std::string&)>& mismatch);

}  // namespace gpu
