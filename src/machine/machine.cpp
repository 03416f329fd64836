#include "launch/files.hpp"
#include "machine/process.hpp"
#include "report/json.hpp"
#include "report/text.hpp"
#include "spec/enum_names.hpp"
#include "spec/refuse.hpp"

#include <tmajit/cache.hpp>
#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>
#include <tmajit/device.hpp>
#include <tmajit/machine/machine.hpp>
#include <tmajit/machine/sass.hpp>
#include <tmajit/report/plan.hpp>
#include <tmajit/sim.hpp>
#include <tmajit/tiles.hpp>

#include <array>
#include <chrono>
#include <fstream>
#include <regex>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr EnumNames<Health, 3> healths{"health", {"ok", "warning", "missing"}};

/// The styles of Health's enumerators, in their order.
constexpr std::array styles{Style::good, Style::warn, Style::bad};

/// With less free disk space, in bytes, the check warns.
constexpr std::uint64_t little_space = std::uint64_t{256} << 20U;

/// A check that `fill` fills in. If `fill` throws, the error's message is the finding and `failed` the
/// status.
template <class Fill>
MachineCheck examine(const std::string& subject, Health failed, const std::string& remedy, const Fill& fill) {
  try {
    MachineCheck check{.subject = subject};
    fill(check);
    return check;
  } catch (const std::exception& error) {
    return {.subject = subject, .health = failed, .found = error.what(), .remedy = remedy};
  }
}

MachineCheck check_nvrtc() {
  // The message of a missing NVRTC ends with a remedy, which is a separate line in the report.
  constexpr std::string_view to_get = "\nTo get it: ";
  MachineCheck result = examine("NVRTC", Health::absent, "", [](MachineCheck& check) {
    const CompilerIdentity& identity = compiler();
    check.found = fmt::format("{}.{}, {}", identity.major, identity.minor, identity.path);
    check.details = compiler_json(identity);
  });
  if (const auto at = result.found.find(to_get); at != std::string::npos) {
    result.remedy = "run tools/setup.sh, which fetches it, or " + result.found.substr(at + to_get.size());
    result.found.resize(at);
  }
  return result;
}

/// Compiles a kernel: an NVRTC that loads may still fail to compile.
MachineCheck check_trial() {
  constexpr auto remedy = "report this with the output of jitc doctor --json";
  return examine("trial kernel", Health::absent, remedy, [](MachineCheck& check) {
    const auto view = TensorView::contiguous(ElementType::f32, {1024, 1024});
    const auto plan = plan_tiles({.family = "copy", .destination = view, .sources = {view}});
    const Source text = source(plan);
    const auto start = std::chrono::steady_clock::now();
    const auto artifact = compile(text);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    check.found = fmt::format(
        "a copy kernel compiled to a cubin of {} bytes in {:.0f} ms, the compiler's start included",
        artifact.cubin.size(), took.count());
    check.details = json_text({{"milliseconds", took.count()}, {"cubin_bytes", artifact.cubin.size()}});
  });
}

/// The PTX of a kernel that doubles every element, for a trial on the simulated device.
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

MachineCheck check_simulator() {
  constexpr auto remedy = "report this with the output of jitc doctor --json";
  auto result = examine("simulated device", Health::absent, remedy, [](MachineCheck& check) {
    const auto device = make_sim_device();
    std::array<std::uint32_t, 256> values{};
    for (std::uint32_t i = 0; i < values.size(); ++i) values.at(i) = i;
    const Buffer buffer(device, sizeof values);
    device->memory().copy_in(buffer.address(), std::as_bytes(std::span(values)), nullptr);
    Artifact artifact;
    artifact.entry = "doubling";
    artifact.ptx = doubling;
    auto address = buffer.address();
    void* const parameters[] = {&address};
    device->kernels().load(artifact)->launch({.block = {256, 1, 1}}, parameters, nullptr);
    device->streams().synchronize(nullptr);
    device->memory().copy_out(std::as_writable_bytes(std::span(values)), buffer.address(), nullptr);
    for (std::uint32_t i = 0; i < values.size(); ++i) {
      if (values.at(i) != 2 * i) throw Error(ErrorCode::internal, "a wrong result");
    }
    check.found = "runs kernels' PTX without a GPU and reports protocol mistakes: jitc run --device sim";
    check.details = json_text({{"thread_instructions", device->thread_instructions()}});
  });
  if (result.health != Health::good) result.found = "a trial kernel failed: " + result.found;
  return result;
}

/// The version line of the kernel module, or empty. The module may be loaded without the user-mode driver.
std::string kernel_module() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  return line;
}

void check_gpus(std::vector<MachineCheck>& checks) {
  const auto gpus = list_gpus();
  const auto module = kernel_module();
  if (gpus.empty()) {
    checks.push_back(
        {.subject = "CUDA driver",
         .health = Health::absent,
         .found = why_no_gpu() + (module.empty() ? "" : "; " + module),
         .remedy = module.empty()
                       ? "install the NVIDIA driver on a machine with a Hopper GPU; without it, kernels "
                         "compile and "
                         "run on the simulated device"
                       : "the kernel module is loaded: install libcuda.so.1 of the same version (in a "
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
         .details =
             json_text({{"name", gpu.name},
                        {"compute_capability", fmt::format("{}.{}", gpu.compute_major, gpu.compute_minor)},
                        {"sm_count", gpu.sm_count},
                        {"memory_bytes", gpu.memory_bytes}})});
  }
}

MachineCheck check_nvdisasm() {
  return examine("nvdisasm", Health::poor, nvdisasm_remedy(), [](MachineCheck& check) {
    const auto program = find_nvdisasm();
    if (!program) throw Error(ErrorCode::unavailable, "not found; only jitc sass needs it");
    const auto result = run_process(*program, {"--version"});
    std::smatch match;
    if (result.status != 0 || !std::regex_search(result.out, match, std::regex("release ([0-9.]+)"))) {
      fail(ErrorCode::unavailable, "{} does not tell its version (status {})", program->string(),
           result.status);
    }
    check.found = fmt::format("{}, {}", match.str(1), program->string());
    check.details = json_text({{"version", match.str(1)}, {"path", program->string()}});
  });
}

/// The folder itself or, if it does not exist, its nearest parent that does: there it would be created.
std::filesystem::path nearest_existing(std::filesystem::path path) {
  std::error_code ignored;
  path = std::filesystem::absolute(path, ignored);
  while (!std::filesystem::exists(path, ignored) && path.has_parent_path() && path != path.parent_path()) {
    path = path.parent_path();
  }
  return path;
}

MachineCheck check_cache(const DiskCache& cache) {
  constexpr auto remedy =
      "make it writable, or name another with $TMAJIT_CACHE_DIR or --cache-dir; kernels are "
      "compiled anew in every process until then";
  return examine("cache folder", Health::poor, remedy, [&](MachineCheck& check) {
    // A file that is written without commit() gets no name and leaves nothing behind.
    OutputFile probe(nearest_existing(cache.directory()) / "jitc-doctor-probe");
    probe.write("tmajit");
    std::uint64_t bytes = 0;
    const auto entries = cache.entries();
    for (const auto& entry : entries) bytes += entry.bytes;
    check.found = fmt::format("{}, writable, {}, {}", cache.directory().string(),
                              counted(entries.size(), "kernel"), describe_bytes(bytes));
    check.details =
        json_text({{"directory", cache.directory().string()}, {"entries", entries.size()}, {"bytes", bytes}});
    if (const auto why = cache.why_refused(); !why.empty()) {
      check.health = Health::poor;
      check.found = fmt::format("{} is not used: {}", cache.directory().string(), why);
      check.remedy = "make it this user's alone; kernels are compiled anew in every process until then";
    }
  });
}

MachineCheck check_space(const DiskCache& cache) {
  constexpr auto remedy = "make sure that the file system responds";
  return examine("disk space", Health::poor, remedy, [&](MachineCheck& check) {
    const auto folder = nearest_existing(cache.directory());
    std::error_code error;
    const auto space = std::filesystem::space(folder, error);
    if (error) fail(ErrorCode::io, "{}: {}", folder.string(), error.message());
    check.found = fmt::format("{} free at {}", describe_bytes(space.available), folder.string());
    check.details = json_text({{"available_bytes", space.available}});
    if (space.available >= little_space) return;
    check.health = Health::poor;
    check.remedy = "free some, or empty the cache with jitc cache clear";
  });
}

}  // namespace

std::string_view name(Health health) noexcept {
  return healths.of(health);
}
template <>
Health parse<Health>(std::string_view text) {
  return healths.parse(text);
}

MachineReport examine_machine(const std::filesystem::path& cache_directory) {
  MachineReport machine;
  auto& checks = machine.checks;
  checks.push_back(check_nvrtc());
  if (checks.back().health == Health::good) checks.push_back(check_trial());
  machine.compiles = checks.back().health == Health::good;
  checks.push_back(check_nvdisasm());
  try {
    const DiskCache cache(cache_directory.empty() ? DiskCache::default_directory() : cache_directory);
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
  return machine;
}

std::string machine_text(const MachineReport& machine, std::size_t width, bool colour) {
  constexpr std::size_t margin = 26;
  std::string text;
  const auto add = [&](std::string front, std::string_view body, std::size_t indent) {
    for (const auto line : split(body, '\n')) {
      const std::string_view words = line.substr(std::min(line.find_first_not_of(' '), line.size()));
      for (const auto& part : wrap(words, std::max(width, margin + 40) - indent)) {
        text += front + part + '\n';
        front = std::string(indent, ' ');
      }
    }
  };
  for (const auto& check : machine.checks) {
    const Style style = styles.at(static_cast<std::size_t>(check.health));
    add(fmt::format("{} {:<16} ", styled(fmt::format("{:<8}", name(check.health)), style, colour),
                    check.subject),
        check.found, margin);
    if (!check.remedy.empty()) add(std::string(margin, ' ') + "→ ", check.remedy, margin + 2);
  }
  return text;
}

std::string machine_json(const MachineReport& machine) {
  Json list = Json::array();
  for (const auto& check : machine.checks) {
    Json item{{"subject", check.subject}, {"status", name(check.health)}, {"found", check.found}};
    if (!check.remedy.empty()) item["remedy"] = check.remedy;
    if (!check.details.empty()) item["details"] = Json::parse(check.details);
    list.push_back(std::move(item));
  }
  return json_text({{"compiles", machine.compiles}, {"checks", list}});
}

TMAJIT_END
