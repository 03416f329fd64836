#include "runtime/builder.hpp"

#include "cache/disk_level.hpp"
#include "cache/nearby_kernels.hpp"
#include "cache/pack_files.hpp"
#include "cache/pack_level.hpp"
#include "fleet/fleet_level.hpp"
#include "kernel/plan_state.hpp"
#include "runtime/dump.hpp"
#include "runtime/made_for.hpp"
#include "runtime/profiler_range.hpp"
#include "runtime/stopwatch.hpp"
#include "spec/inside.hpp"
#include "spec/log.hpp"

#include <tmajit/error.hpp>
#include <tmajit/pack.hpp>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

bool has_ptx(const Artifact& artifact) {
  return !artifact.ptx.empty();
}
bool has_cubin(const Artifact& artifact) {
  return !artifact.cubin.empty();
}
bool has_code(const Artifact& artifact) {
  return has_ptx(artifact) || has_cubin(artifact);
}

Levels levels_of(const RuntimeOptions& options) {
  std::vector<std::unique_ptr<const KernelLevel>> levels;
  std::vector<std::filesystem::path> packs = pack_files(options.packs);
  if (options.shipped_packs) std::ranges::copy(shipped_packs(), std::back_inserter(packs));
  for (const std::filesystem::path& file : packs)
    if (auto level = PackLevel::open(file)) levels.push_back(std::move(level));
  if (options.cache_directory)
    levels.push_back(std::make_unique<DiskLevel>(*options.cache_directory, options.max_cache_bytes));
  for (const std::filesystem::path& folder : options.read_only_caches)
    levels.push_back(std::make_unique<DiskLevel>(folder, 0, CacheAccess::read_only));
  if (auto fleet = make_fleet_level(options.fleet)) levels.push_back(std::move(fleet));
  return Levels(std::move(levels));
}

std::vector<KeyField> fields_of_key(const KernelRequest& request, const CompileOptions& options,
                                    const CompilerIdentity& compiler) {
  return request.plan != nullptr ? key_fields(*request.plan, options, compiler)
                                 : key_fields(*request.custom, options, compiler);
}

CacheKey key_of(const KernelRequest& request, const CompileOptions& options,
                const CompilerIdentity& compiler) {
  return request.plan != nullptr ? cache_key(*request.plan, options, compiler)
                                 : cache_key(*request.custom, options, compiler);
}

void take(Levels::Found found, BuiltKernel& kernel) {
  kernel.artifact = std::move(found.artifact);
  kernel.key = found.key;
  kernel.level = found.level;
  kernel.is_kept = found.is_kept;
}

/// The kernel's name, as far as it is known before its source is generated.
std::string_view name_of(const KernelRequest& request) {
  return request.plan != nullptr ? request.plan->family().name : std::string_view(request.custom->entry);
}

KernelRecord record_of(const BuiltKernel& kernel, MadeBy made_by) {
  const Artifact& artifact = kernel.artifact;
  return {.key = kernel.key,
          .entry = artifact.entry,
          .made_for = artifact.made_for,
          .level = kernel.level,
          .made_by = made_by,
          .times = kernel.times,
          .bytes = artifact.source.size() + artifact.ptx.size() + artifact.cubin.size() + artifact.log.size(),
          .when = std::chrono::system_clock::now()};
}

std::uint64_t loaded_bytes(const BuiltKernel& kernel) {
  if (!kernel.loaded) return 0;
  return kernel.device->kernels().runs_ptx() ? kernel.artifact.ptx.size() : kernel.artifact.cubin.size();
}

Source source_of(const KernelRequest& request, StageTimes& times) {
  if (request.custom != nullptr) return *request.custom;
  const Stopwatch watch(times.generate);
  return source(*request.plan);
}

}  // namespace

Builder::Builder(RuntimeOptions options, Toolchain toolchain, std::chrono::milliseconds patience)
    : options_(std::move(options)),
      toolchain_(toolchain),
      patience_(patience),
      levels_(levels_of(options_)),
      recorder_(options_.record),
      suits_(!options_.device                        ? has_code
             : options_.device->kernels().runs_ptx() ? has_ptx
                                                     : has_cubin),
      ledger_(std::make_shared<Ledger>(options_.statistics_directory, options_.on_kernel)) {}

BuiltKernel Builder::build(const KernelRequest& request) const {
  BuiltKernel kernel;
  kernel.shared_bytes = request.shared_bytes;
  kernel.artifact.made_for = made_for(request);
  try {
    find_or_compile(request, kernel);
    load_or_compile(request, kernel);
  } catch (...) {
    ledger_->add_failure(kernel.times);
    throw;
  }
  ledger_->add(record_of(kernel, request.made_by), loaded_bytes(kernel), kernel.is_kept);
  if (options_.dump_directory) dump_kernel(*options_.dump_directory, kernel, request);
  return kernel;
}

Artifact Builder::artifact(const CacheKey& key, const KernelRequest& request) const {
  if (std::optional<Artifact> whole = levels_.whole(key)) return *std::move(whole);
  if (options_.when_missing == WhenMissing::refuse) throw MissingKernelError(missing(request));
  try {
    BuiltKernel kernel;
    kernel.artifact.made_for = made_for(request);
    const CompilerIdentity& compiler = toolchain_.identity();
    kernel.key = key_for(request)(compiler);
    // Not compile_once(): it could find the kernel in a pack again, without its source.
    compile(request, compiler, kernel);
    return std::move(kernel.artifact);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable) throw;
    std::optional<Levels::Found> part = levels_.find(key, CompilerIdentity{}, suits_);
    if (!part) throw;
    return std::move(part->artifact);
  }
}

KeyFor Builder::key_for(const KernelRequest& request) const {
  return [this, &request](const CompilerIdentity& compiler) {
    return key_of(request, options_.compile, compiler);
  };
}

std::optional<Levels::Found> Builder::find_of_any_compiler(const KernelRequest& request) const {
  if (auto found = levels_.find_of_any_compiler(key_for(request), suits_)) return found;
  constexpr std::string_view real = "sm_";
  if (suits_ != &has_ptx || !options_.compile.arch.starts_with(real)) return std::nullopt;
  CompileOptions ptx_alone = options_.compile;
  ptx_alone.arch.replace(0, real.size(), "compute_");
  const auto key_for_ptx = [&](const CompilerIdentity& compiler) {
    return key_of(request, ptx_alone, compiler);
  };
  return levels_.find_of_any_compiler(key_for_ptx, suits_);
}

MissingKernel Builder::missing(const KernelRequest& request) const {
  MissingKernel missing{.key = NearbyKernels(levels_, /*any_compiler=*/true).first_key(key_for(request)),
                        .family = {},
                        .choice = {},
                        .made_for = made_for(request),
                        .levels = {},
                        .nearest = {},
                        .differences = {}};
  if (request.plan != nullptr) {
    missing.family = request.plan->family().name;
    missing.choice = request.plan->choice().text();
  }
  for (const auto& level : levels_.all()) missing.levels.push_back(level->name());
  return missing;
}

void Builder::find_or_compile(const KernelRequest& request, BuiltKernel& kernel) const {
  const KeyFor key_for = this->key_for(request);
  {
    const Stopwatch watch(kernel.times.fetch);
    if (auto found = levels_.find(key_for, suits_)) return take(std::move(*found), kernel);
  }
  if (options_.when_missing == WhenMissing::refuse) {
    auto found = find_of_any_compiler(request);
    if (!found) throw MissingKernelError(missing(request));
    return take(std::move(*found), kernel);
  }
  const CompilerIdentity* const compiler = require_compiler(request, kernel);
  if (compiler == nullptr) return;
  {
    const Stopwatch watch(kernel.times.key);
    kernel.key = key_for(*compiler);
  }
  {
    const Stopwatch watch(kernel.times.fetch);
    if (auto found = levels_.find(kernel.key, *compiler, suits_)) return take(std::move(*found), kernel);
  }
  compile_once(request, *compiler, kernel);
}

const CompilerIdentity* Builder::require_compiler(const KernelRequest& request, BuiltKernel& kernel) const {
  try {
    const Stopwatch watch(kernel.times.key);  // the first time, this loads NVRTC
    return &toolchain_.identity();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable) throw;
    const Stopwatch watch(kernel.times.fetch);
    if (auto found = find_of_any_compiler(request)) {
      take(std::move(*found), kernel);
      return nullptr;
    }
    std::string message = error.what();
    for (const auto& level : levels_.all())
      message += fmt::format("\n{}{} does not hold this kernel either.",
                             static_cast<char>(std::toupper(level->name().front())), level->name().substr(1));
    throw Error(ErrorCode::unavailable, message);
  }
}

void Builder::load_or_compile(const KernelRequest& request, BuiltKernel& kernel) const {
  try {
    load(kernel);
  } catch (const Error& error) {
    // Only the driver can tell that a cached entry does not suit this GPU: compile the kernel again, once.
    // With any other error, such as a failed device or too little memory, new code would fail as well.
    if (error.code() != ErrorCode::invalid_image || kernel.level == CacheLevel::compiled ||
        options_.when_missing == WhenMissing::refuse) {
      throw;
    }
    const CompilerIdentity* compiler = nullptr;
    try {
      compiler = &toolchain_.identity();
    } catch (const Error&) {
      throw error;  // NOLINT(cert-err09-cpp,cert-err61-cpp): what the driver said, not that NVRTC is missing
    }
    log(LogLevel::warn, "cached kernel {} does not load and is compiled again: {}", kernel.key.hex(),
        error.what());
    kernel.key = key_for(request)(*compiler);
    compile(request, *compiler, kernel);
    load(kernel);
  }
}

void Builder::compile_once(const KernelRequest& request, const CompilerIdentity& compiler,
                           BuiltKernel& kernel) const {
  std::vector<std::unique_ptr<MakingLease>> leases;
  for (const KernelLevel* const level : levels_.writable()) {
    const Stopwatch watch(kernel.times.fetch);
    std::unique_ptr<MakingLease> lease = level->lease(kernel.key, patience_);
    if (lease == nullptr) continue;
    if (lease->timed_out()) {
      log(LogLevel::info, "kernel {} is compiled here, too: another process has worked on it for {} ms",
          kernel.key.hex(), patience_.count());
    }
    leases.push_back(std::move(lease));
    // Another process may have kept the kernel in the meantime.
    if (auto found = levels_.find(kernel.key, compiler, suits_)) return take(std::move(*found), kernel);
  }
  compile(request, compiler, kernel);
}

void Builder::compile(const KernelRequest& request, const CompilerIdentity& compiler,
                      BuiltKernel& kernel) const {
  const Source source = source_of(request, kernel.times);
  {
    const Stopwatch watch(kernel.times.compile);
    const ProfilerRange range("tmajit compile", name_of(request));
    MadeFor made_for = std::move(kernel.artifact.made_for);
    kernel.artifact = toolchain_.compile(source, options_.compile);
    kernel.artifact.made_for = std::move(made_for);
    kernel.artifact.key_fields = fields_of_key(request, options_.compile, compiler);
    kernel.level = CacheLevel::compiled;
  }
  recorder_.add(request, source, options_.compile, kernel.artifact.made_for);
  const Stopwatch watch(kernel.times.store);
  kernel.is_kept = levels_.keep(kernel.key, kernel.artifact, compiler);
}

void Builder::load(BuiltKernel& kernel) const {
  if (!options_.device) return;
  const Stopwatch watch(kernel.times.load);
  const ProfilerRange range("tmajit load", kernel.artifact.entry);
  kernel.loaded = options_.device->kernels().load(kernel.artifact);
  kernel.loaded->allow_shared_bytes(kernel.shared_bytes);
  kernel.device = options_.device;
}

TMAJIT_END
