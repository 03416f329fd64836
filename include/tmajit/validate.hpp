#pragma once

#include <tmajit/error.hpp>
#include <tmajit/tensor_map_spec.hpp>

#include <cstdint>
#include <optional>
#include <vector>

TMAJIT_BEGIN

/// Returns every rule that `spec` breaks: rules of the driver, of the PTX ISA and of the hardware, and
/// tmajit's own rule that unused members are 0. The list is empty if `spec` is legal. No GPU or driver is
/// needed.
///
/// If `address`, the tensor's device address, is given, its alignment is checked, too. If the rank is not 1
/// to 5, the rules that depend on it are not checked, such as those of the innermost dimension.
///
/// The driver (`cuTensorMapEncodeTiled` or `cuTensorMapEncodeIm2col`) accepts every legal spec at an aligned
/// address. It may also accept an illegal one, with which the hardware then faults or copies other elements.
[[nodiscard]] TMAJIT_API std::vector<Violation> validate(const TensorMapSpec& spec,
                                                         std::optional<std::uint64_t> address = {});

/// The most shared memory, in bytes, that a kernel for sm_90 can use in a CTA (CUDA C++ Programming Guide,
/// "Technical Specifications per Compute Capability").
inline constexpr std::uint32_t max_shared_bytes_per_cta = 227 * 1024;
/// The shared memory of an SM of sm_90, in bytes. Each CTA takes 1 KiB more of it than its kernel uses; CUDA
/// reserves that KiB.
inline constexpr std::uint32_t max_shared_bytes_per_sm = 228 * 1024;

TMAJIT_END
