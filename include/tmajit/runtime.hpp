#pragma once

#include <tmajit/cache.hpp>
#include <tmajit/device.hpp>
#include <tmajit/kernel_spec.hpp>
#include <tmajit/tuning.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

TMAJIT_BEGIN

struct RuntimeOptions {
  /// What runs the kernels. Null: everything up to the cubin works, launching throws Error{unavailable}.
  std::shared_ptr<Device> device = {};
  /// Where compiled kernels are kept; nullopt keeps them in memory only.
  std::optional<std::filesystem::path> cache_directory = DiskCache::default_directory();
  CompileOptions compile = {};
};

/// Milliseconds of each step that made a kernel; zero for a step that was not needed.
struct StageTimes {
  double generate = 0;
  double key = 0;
  double fetch = 0;
  double compile = 0;
  double store = 0;
  double load = 0;
};

/// One tensor of a launch.
struct Operand {
  TensorView view;
  DevicePtr address = 0;
  L2Promotion l2_promotion = L2Promotion::none;
  OobFill oob_fill = OobFill::zero;
};

/// A launch with its tensor maps encoded: everything that a kernel call needs, ready to be enqueued again and
/// again, on any stream and inside graph capture. Must not outlive its Kernel's Runtime. Not copyable
/// while in use by two threads at once; launch() itself is const and thread-safe.
class TMAJIT_API PreparedLaunch {
 public:
  void operator()(Stream stream = nullptr) const;
  [[nodiscard]] const LaunchShape& shape() const noexcept;
  /// Bytes that the launch reads and writes, each element once.
  [[nodiscard]] std::uint64_t bytes_moved() const noexcept;

  PreparedLaunch(PreparedLaunch&&) noexcept;
  PreparedLaunch& operator=(PreparedLaunch&&) noexcept;
  ~PreparedLaunch();

 private:
  friend class Kernel;
  struct State;
  explicit PreparedLaunch(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// A compiled kernel, loaded where the runtime has a device. Cheap to copy; thread-safe.
class TMAJIT_API Kernel {
 public:
  [[nodiscard]] const Artifact& artifact() const noexcept;
  [[nodiscard]] const CacheKey& key() const noexcept;
  /// Where this kernel came from when it was first asked of this runtime, and what that took.
  [[nodiscard]] CacheLevel level() const noexcept;
  [[nodiscard]] const StageTimes& times() const noexcept;

  /// Encodes the tensor maps and launch shape for these operands: the inputs in order, then the output.
  /// Throws SpecError if the operands break a rule, Error{unavailable} without a device,
  /// Error{invalid_argument} for a custom kernel.
  [[nodiscard]] PreparedLaunch prepare(std::span<const Operand> inputs, const Operand& output) const;
  /// prepare() and launch in one.
  void launch(std::span<const Operand> inputs, const Operand& output, Stream stream = nullptr) const;
  /// A launch of a custom kernel: parameters as for cuLaunchKernelEx.
  void launch(const LaunchShape& shape, std::span<void* const> parameters, Stream stream = nullptr) const;

 private:
  friend class Runtime;
  struct State;
  explicit Kernel(std::shared_ptr<const State> state);
  std::shared_ptr<const State> state_;
};

class MovePlan;

/// Ties generator, compiler, cache and device together. Thread-safe; the same kernel asked for by several
/// threads at once is compiled once.
class TMAJIT_API Runtime {
 public:
  explicit Runtime(RuntimeOptions options = {});
  ~Runtime();
  Runtime(Runtime&&) noexcept;
  Runtime& operator=(Runtime&&) noexcept;

  /// The kernel for `spec`: from memory, from disk, or compiled. A memory hit builds no text.
  /// Throws SpecError, CompileError, Error{unavailable}.
  [[nodiscard]] Kernel kernel(const KernelSpec& spec);
  /// The same for a source of the user's own, see custom_source(). `shared_bytes` is the most dynamic shared
  /// memory that its launches will ask for.
  [[nodiscard]] Kernel kernel(const Source& source, std::uint32_t shared_bytes = 0);

  /// The same for a source that is only written if nobody asked for its `recipe` before: whatever text tells
  /// the caller's kernels apart. Two sources must not have one recipe.
  [[nodiscard]] Kernel kernel(std::string_view recipe, const std::function<Source()>& make,
                              std::uint32_t shared_bytes = 0);

  /// Choices for moves: those that are shipped, and over them those of the file `tuning.json` in the cache
  /// directory, which is read when they are first asked for. A file that is broken is logged and left alone.
  [[nodiscard]] TuningTable& tuning() noexcept;
  /// Adds a choice to tuning() and, beside what other processes have stored meanwhile, to that file if there
  /// is a cache directory. False if the file is broken or could not be written; the reason is logged.
  bool remember(const TunedChoice& choice);
  /// Measures every candidate for the plan's largest step on its own tensors, whose destinations it writes,
  /// and stores the winner: plans made afterwards for the same shape class use it. Throws Error{unavailable}
  /// without a GPU; on the simulator times mean nothing.
  TuneReport tune(const MovePlan& plan, const TuneOptions& options = {});

  [[nodiscard]] const std::shared_ptr<Device>& device() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

TMAJIT_END
