#include "checks.hpp"

#include "files.hpp"
#include "nvdisasm.hpp"
#include "process.hpp"

#include <tmajit/cache.hpp>
#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>
#include <tmajit/device.hpp>
#include <tmajit/sim.hpp>

#include <array>
#include <chrono>
#include <fstream>
#include <regex>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::TensorView;

constexpr std::uint64_t little_space = std::uint64_t{256} << 20U;

Check check_nvrtc() {
  try {
    const auto& compiler = tmajit::compiler();
    return {.subject = "NVRTC",
            .found = fmt::format("{}.{}, {}", compiler.major, compiler.minor, compiler.path),
            .needed_to_compile = true,
            .details = to_json(compiler)};
  } catch (const std::exception& error) {
    return {.subject = "NVRTC",
            .health = Health::absent,
            .found = error.what(),
            .remedy =
                "run tools/setup.sh, which fetches it, or install the CUDA toolkit or the Python package "
                "nvidia-cuda-nvrtc",
            .needed_to_compile = true};
  }
}

/// Whether a kernel really comes out, not only whether the parts are there.
Check check_trial() {
  try {
    const std::array<std::uint64_t, 2> shape{1024, 1024};
    const auto view = TensorView::contiguous(tmajit::ElementType::f32, shape);
    const auto source = tmajit::generate(tmajit::copy_spec(view, view));
    const auto start = std::chrono::steady_clock::now();
    const auto artifact = tmajit::compile(source);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    return {.subject = "trial kernel",
            .found = fmt::format(
                "a copy kernel compiled to a cubin of {} bytes in {:.0f} ms, the compiler's start included",
                artifact.cubin.size(), took.count()),
            .needed_to_compile = true,
            .details = {{"milliseconds", took.count()}, {"cubin_bytes", artifact.cubin.size()}}};
  } catch (const std::exception& error) {
    return {.subject = "trial kernel",
            .health = Health::absent,
            .found = error.what(),
            .remedy = "take NVRTC 12.4 or later; if it is, report this with the output of jitc doctor --json",
            .needed_to_compile = true};
  }
}

/// A kernel of a few lines on the simulated device: every element doubled.
constexpr auto doubling = R"(
.version 8.0
.target sm_90a
.address_size 64
.visible .entry doubling(.param .u64 data)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3];
  add.s32 %r2, %r2, %r2;
  st.global.u32 [%rd3], %r2;
  ret;
}
)";

Check check_simulator() {
  try {
    const auto device = tmajit::make_sim_device();
    std::array<std::uint32_t, 256> values{};
    for (std::uint32_t i = 0; i < values.size(); ++i) values.at(i) = i;
    const tmajit::Buffer buffer(device, sizeof values);
    device->copy_in(buffer.address(), std::as_bytes(std::span(values)), nullptr);
    tmajit::Artifact artifact;
    artifact.entry = "doubling";
    artifact.ptx = doubling;
    auto address = buffer.address();
    void* const parameters[] = {&address};
    device->load(artifact)->launch({.block = {256, 1, 1}}, parameters, nullptr);
    device->synchronize(nullptr);
    device->copy_out(std::as_writable_bytes(std::span(values)), buffer.address(), nullptr);
    for (std::uint32_t i = 0; i < values.size(); ++i) {
      if (values.at(i) != 2 * i) throw tmajit::Error(tmajit::ErrorCode::internal, "a wrong result");
    }
    return {.subject = "simulated device",
            .found = "runs kernels' PTX without a GPU and reports protocol mistakes: jitc run --device sim",
            .details = {{"thread_instructions", device->thread_instructions()}}};
  } catch (const std::exception& error) {
    return {.subject = "simulated device",
            .health = Health::absent,
            .found = fmt::format("a trial kernel failed: {}", error.what()),
            .remedy = "report this with the output of jitc doctor --json"};
  }
}

/// The kernel module's own words, where it is loaded: it may be there without the user-mode driver.
std::string kernel_module() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  return line;
}

void check_gpus(std::vector<Check>& checks) {
  const auto gpus = tmajit::list_gpus();
  const auto module = kernel_module();
  if (gpus.empty()) {
    checks.push_back(
        {.subject = "CUDA driver",
         .health = Health::absent,
         .found = tmajit::why_no_gpu() + (module.empty() ? "" : "; " + module),
         .remedy =
             module.empty()
                 ? "install the NVIDIA driver on a machine with a Hopper GPU; without, kernels compile and "
                   "run on the simulated device"
                 : "the kernel module is there: install libcuda.so.1 of the same version (in a "
                   "container, start it with access to the GPU)"});
    return;
  }
  checks.push_back({.subject = "CUDA driver", .found = module.empty() ? "libcuda.so.1" : module});
  for (const auto& gpu : gpus) {
    const bool hopper = gpu.compute_major == 9 && gpu.compute_minor == 0;
    checks.push_back(
        {.subject = fmt::format("GPU {}", gpu.ordinal),
         .health = hopper ? Health::good : Health::poor,
         .found = fmt::format("{}, compute capability {}.{}, {} SMs, {}", gpu.name, gpu.compute_major,
                              gpu.compute_minor, gpu.sm_count, describe_bytes(gpu.memory_bytes)),
         .remedy = hopper ? "" : "kernels for sm_90a run on compute capability 9.0 alone: H100, H200, GH200",
         .details = {{"name", gpu.name},
                     {"compute_capability", fmt::format("{}.{}", gpu.compute_major, gpu.compute_minor)},
                     {"sm_count", gpu.sm_count},
                     {"memory_bytes", gpu.memory_bytes}}});
  }
}

Check check_nvdisasm() {
  const auto program = find_nvdisasm();
  if (!program) {
    return {.subject = "nvdisasm",
            .health = Health::poor,
            .found = "not found; only jitc sass needs it",
            .remedy = nvdisasm_remedy()};
  }
  try {
    const auto result = run_process(*program, {"--version"});
    std::smatch match;
    if (result.status == 0 && std::regex_search(result.out, match, std::regex("release ([0-9.]+)"))) {
      return {.subject = "nvdisasm",
              .found = fmt::format("{}, {}", match.str(1), program->string()),
              .details = {{"version", match.str(1)}, {"path", program->string()}}};
    }
    return {
        .subject = "nvdisasm",
        .health = Health::poor,
        .found = fmt::format("{} does not tell its version (status {})", program->string(), result.status),
        .remedy = nvdisasm_remedy()};
  } catch (const std::exception& error) {
    return {
        .subject = "nvdisasm", .health = Health::poor, .found = error.what(), .remedy = nvdisasm_remedy()};
  }
}

/// The folder, or the nearest one above it that exists: where it would be made.
std::filesystem::path existing(std::filesystem::path path) {
  std::error_code ignored;
  path = std::filesystem::absolute(path, ignored);
  while (!std::filesystem::exists(path, ignored) && path.has_parent_path() && path != path.parent_path()) {
    path = path.parent_path();
  }
  return path;
}

Check check_cache(const tmajit::DiskCache& cache) {
  Check check{.subject = "cache folder"};
  constexpr auto remedy =
      "make it writable, or name another with $TMAJIT_CACHE_DIR or --cache-dir; kernels are "
      "compiled anew in every process until then";
  try {
    // Written and forgotten: a file without a name.
    OutputFile probe(existing(cache.directory()) / "jitc-doctor-probe");
    probe.write("tmajit");
    std::uint64_t bytes = 0;
    const auto entries = cache.entries();
    for (const auto& entry : entries) bytes += entry.bytes;
    check.found = fmt::format("{}, writable, {} kernel{}, {}", cache.directory().string(), entries.size(),
                              entries.size() == 1 ? "" : "s", describe_bytes(bytes));
    check.details = {
        {"directory", cache.directory().string()}, {"entries", entries.size()}, {"bytes", bytes}};
  } catch (const std::exception& error) {
    check.health = Health::poor;
    check.found = error.what();
    check.remedy = remedy;
  }
  return check;
}

Check check_space(const tmajit::DiskCache& cache) {
  const auto folder = existing(cache.directory());
  std::error_code error;
  const auto space = std::filesystem::space(folder, error);
  if (error) {
    return {.subject = "disk space",
            .health = Health::poor,
            .found = fmt::format("{}: {}", folder.string(), error.message()),
            .remedy = "see to it that the file system answers"};
  }
  const bool enough = space.available >= little_space;
  return {.subject = "disk space",
          .health = enough ? Health::good : Health::poor,
          .found = fmt::format("{} free at {}", describe_bytes(space.available), folder.string()),
          .remedy = enough ? "" : "free some, or empty the cache with jitc cache clear",
          .details = {{"available_bytes", space.available}}};
}

}  // namespace

std::vector<Check> examine_machine(const std::string& cache_directory) {
  std::vector<Check> checks;
  checks.push_back(check_nvrtc());
  if (checks.back().health == Health::good) checks.push_back(check_trial());
  checks.push_back(check_nvdisasm());
  try {
    const tmajit::DiskCache cache(cache_directory.empty() ? tmajit::DiskCache::default_directory()
                                                          : std::filesystem::path(cache_directory));
    checks.push_back(check_cache(cache));
    checks.push_back(check_space(cache));
  } catch (const std::exception& error) {
    checks.push_back({.subject = "cache folder",
                      .health = Health::poor,
                      .found = error.what(),
                      .remedy = "name a folder with $TMAJIT_CACHE_DIR or --cache-dir"});
  }
  checks.push_back(check_simulator());
  check_gpus(checks);
  return checks;
}

}  // namespace jitc
