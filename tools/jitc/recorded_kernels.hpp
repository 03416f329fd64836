#pragma once

#include <tmajit/kernel_recipe.hpp>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace jitc {

/// The meaning of --ptx.
inline constexpr const char* keep_ptx_help =
    "Keep PTX beside cubins, for jitc run --device sim; GPUs do not need it";

/// Reads a manifest. Says on standard error how many lines were skipped, and why. Throws Error{io}.
[[nodiscard]] tmajit::Manifest read_manifest_file(const std::string& file);

/// Calls make_kernels() and shows its progress. Says on standard error which kernels NVRTC refused.
[[nodiscard]] tmajit::MadeKernels make_recorded_kernels(std::span<const tmajit::KernelRecipe> records,
                                                        const tmajit::DiskCache& cache, std::uint32_t jobs);

/// Calls write_pack() and shows its progress.
tmajit::PackSummary write_pack_file(const std::filesystem::path& file, std::span<const tmajit::CacheKey> keys,
                                    const tmajit::DiskCache& from,
                                    std::span<const tmajit::CompilerIdentity> compilers, bool keep_ptx);

}  // namespace jitc
