#pragma once

#include "cudart/graphs.hpp"
#include "cudart/modules.hpp"

#include <tmajit/device_kernels.hpp>

#include <cstddef>

TMAJIT_BEGIN
namespace cudart {

/// The work of a launch; copies the arguments now. `arguments` points to each parameter's bytes. Throws
/// Failure if the kernel has parameters, but `arguments` is null. The work throws Failure if the device
/// rejects the launch.
[[nodiscard]] Work launch_of(Kernel& kernel, const LaunchShape& shape, void* const* arguments);
[[nodiscard]] LaunchShape shape_of(dim3 grid, dim3 block, std::size_t shared_bytes);
[[nodiscard]] LaunchShape shape_of(const cudaLaunchConfig_t& config);
/// The most CTAs that run on a multiprocessor at a time; 0 if one CTA has too many threads or too much shared
/// memory.
[[nodiscard]] int ctas_per_multiprocessor(Kernel& kernel, int threads, std::size_t shared_bytes);
void set_attribute(Kernel& kernel, cudaFuncAttribute attribute, int value);
[[nodiscard]] cudaFuncAttributes attributes_of(Kernel& kernel);

}  // namespace cudart
TMAJIT_END
