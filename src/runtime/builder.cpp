#include "runtime/builder.hpp"

#include "cache/layout.hpp"
#include "files/file_lock.hpp"
#include "kernel/plan_state.hpp"
#include "spec/inside.hpp"
#include "spec/log.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

/// Adds the milliseconds of its lifetime to a stage, also if the stage throws.
class Stopwatch {
 public:
  explicit Stopwatch(double& milliseconds) : milliseconds_(milliseconds) {}
  ~Stopwatch() { milliseconds_ += std::chrono::duration<double, std::milli>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& milliseconds_;
  Clock::time_point start_ = Clock::now();
};

/// The operation that a plan's kernel is made for; empty for a user's own source.
MadeFor made_for(const KernelRequest& request) {
  if (request.custom != nullptr) return {};
  const Problem& problem = Inside::state(*request.plan)->problem;
  const std::span types = std::span(problem.type).first(problem.nest.operands);
  MadeFor made{
      .operation = std::string(problem.operation()), .types = std::string(name(types[0])), .shape = {}};
  if (std::ranges::any_of(types, [&](ElementType type) { return type != types[0]; })) {
    made.types += " <-";
    for (const ElementType type : types.subspan(1)) made.types += fmt::format(" {}", name(type));
  }
  const TensorView view = problem.view(0);
  const std::span shape = std::span(view.shape).first(view.rank);
  made.shape = shape.empty() ? std::string("1") : fmt::to_string(fmt::join(shape, "x"));
  return made;
}

}  // namespace

Builder::Builder(RuntimeOptions options, Toolchain toolchain, std::chrono::milliseconds patience)
    : options_(std::move(options)), toolchain_(toolchain), patience_(patience) {
  if (options_.cache_directory) disk_.emplace(*options_.cache_directory);
}

BuiltKernel Builder::build(const KernelRequest& request) const {
  BuiltKernel kernel;
  kernel.shared_bytes = request.shared_bytes;
  kernel.artifact.made_for = made_for(request);
  const Source source = generate(request, kernel.times);
  load_or_compile(source, fetch_or_compile(source, kernel), kernel);
  return kernel;
}

Artifact Builder::artifact(const CacheKey& key, const KernelRequest& request) const {
  BuiltKernel kernel;
  kernel.key = key;
  kernel.artifact.made_for = made_for(request);
  if (!fetch_entry(kernel)) fetch_or_compile(generate(request, kernel.times), kernel);
  return std::move(kernel.artifact);
}

Source Builder::generate(const KernelRequest& request, StageTimes& times) {
  if (request.custom != nullptr) return *request.custom;
  const Stopwatch watch(times.generate);
  return source(*request.plan);
}

const CompilerIdentity* Builder::fetch_or_compile(const Source& source, BuiltKernel& kernel) const {
  const CompilerIdentity* compiler = nullptr;
  try {
    const Stopwatch watch(kernel.times.key);  // the first time, this loads NVRTC
    compiler = &toolchain_.identity();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable) throw;
    if (fetch_without_compiler(source, kernel)) return nullptr;
    if (!disk_) throw;
    throw Error(ErrorCode::unavailable, fmt::format("{}\nThe cache in {} does not hold this kernel either.",
                                                    error.what(), disk_->directory().string()));
  }
  if (!fetch(source, *compiler, kernel)) compile_once(source, *compiler, kernel);
  return compiler;
}

void Builder::load_or_compile(const Source& source, const CompilerIdentity* compiler,
                              BuiltKernel& kernel) const {
  try {
    load(kernel);
  } catch (const Error& error) {
    // Only the driver can tell that a cached entry does not suit this GPU: compile the kernel again, once.
    // With any other error, such as a failed device or too little memory, new code would fail as well.
    if (compiler == nullptr || error.code() != ErrorCode::invalid_image ||
        kernel.level == CacheLevel::compiled)
      throw;
    log(LogLevel::warn, "cached kernel {} does not load and is compiled again: {}", kernel.key.hex(),
        error.what());
    compile(source, *compiler, kernel);
    load(kernel);
  }
}

bool Builder::fetch(const Source& source, const CompilerIdentity& compiler, BuiltKernel& kernel) const {
  {
    const Stopwatch watch(kernel.times.key);
    kernel.key = cache_key(source, options_.compile, compiler);
  }
  return fetch_entry(kernel);
}

bool Builder::fetch_entry(BuiltKernel& kernel) const {
  if (!disk_) return false;
  const Stopwatch watch(kernel.times.fetch);
  std::optional<Artifact> found = disk_->fetch(kernel.key);
  if (!found) return false;
  kernel.artifact = std::move(*found);
  kernel.level = CacheLevel::disk;
  kernel.on_disk = true;
  return true;
}

bool Builder::fetch_without_compiler(const Source& source, BuiltKernel& kernel) const {
  if (!disk_) return false;
  std::vector<CompilerIdentity> compilers;
  {
    const Stopwatch watch(kernel.times.fetch);
    compilers = disk_->known_compilers();
  }
  for (const CompilerIdentity& compiler : compilers) {
    if (fetch(source, compiler, kernel)) return true;
  }
  return false;
}

void Builder::compile_once(const Source& source, const CompilerIdentity& compiler,
                           BuiltKernel& kernel) const {
  std::optional<FileLock> making_lock;
  if (disk_ && disk_->why_refused().empty()) {
    {
      const Stopwatch watch(kernel.times.fetch);
      making_lock.emplace(making_lock_path(disk_->directory(), kernel.key), patience_);
    }
    if (making_lock->timed_out()) {
      log(LogLevel::info, "kernel {} is compiled here, too: another process has worked on it for {} ms",
          kernel.key.hex(), patience_.count());
    }
    // Another process may have stored the kernel in the meantime.
    if (fetch_entry(kernel)) return;
  }
  compile(source, compiler, kernel);
}

void Builder::compile(const Source& source, const CompilerIdentity& compiler, BuiltKernel& kernel) const {
  {
    const Stopwatch watch(kernel.times.compile);
    MadeFor made_for = std::move(kernel.artifact.made_for);
    kernel.artifact = toolchain_.compile(source, options_.compile);
    kernel.artifact.made_for = std::move(made_for);
    kernel.level = CacheLevel::compiled;
  }
  if (!disk_) return;
  const Stopwatch watch(kernel.times.store);
  kernel.on_disk = disk_->store(kernel.key, kernel.artifact);
  if (kernel.on_disk) disk_->remember(compiler);
}

void Builder::load(BuiltKernel& kernel) const {
  if (!options_.device) return;
  const Stopwatch watch(kernel.times.load);
  kernel.loaded = options_.device->kernels().load(kernel.artifact);
  kernel.loaded->allow_shared_bytes(kernel.shared_bytes);
  kernel.device = options_.device;
}

TMAJIT_END
