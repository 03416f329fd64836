#pragma once

#include <tmajit/error.hpp>
#include <tmajit/tensor_map_spec.hpp>

#include <cstdint>
#include <optional>
#include <vector>

TMAJIT_BEGIN

/// Every rule of the driver, the PTX ISA or the hardware that `spec` breaks; empty if it is legal.
/// Needs neither GPU nor driver. `address` is the tensor's device address, where it is known.
/// If the rank is above 5, which breaks a rule, the rules of the innermost dimension are not checked.
/// `cuTensorMapEncodeTiled` or `cuTensorMapEncodeIm2col` accepts every spec that passes. A spec that fails
/// is rejected by the driver, or the hardware copies something else.
[[nodiscard]] TMAJIT_API std::vector<Violation> validate(const TensorMapSpec& spec,
                                                         std::optional<std::uint64_t> address = {});

/// Shared memory that one CTA and one SM of sm_90 can use, bytes (CUDA C++ Programming Guide, "Technical
/// Specifications per Compute Capability"). The system reserves another 1 KiB for each CTA.
inline constexpr std::uint32_t max_shared_bytes_per_cta = 227 * 1024;
inline constexpr std::uint32_t max_shared_bytes_per_sm = 228 * 1024;

TMAJIT_END
