#pragma once

#include <tmajit/cache.hpp>
#include <tmajit/device.hpp>
#include <tmajit/fleet.hpp>
#include <tmajit/kernel_plan.hpp>
#include <tmajit/list.hpp>
#include <tmajit/missing_kernel.hpp>
#include <tmajit/own_launch.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

TMAJIT_BEGIN

/// Choices that improve while a program runs. The first calls of a shape (ShapeClass, tuning.hpp) take turns
/// at a few kernels that could do them, on the caller's own tensors, and the fastest becomes the shape's
/// choice.
///
/// The candidates are the default kernel, which would be taken without trials, and the kernels that the cost
/// model predicts fastest, up to 1.5 times the time of the fastest of all. Each call launches one kernel, as
/// without trials, and none waits: the device's clock is read around the launch (StreamTimer), and a later
/// call collects the time. The first launch of a kernel is not timed, because it loads the code. A kernel
/// whose first times are clearly longer than the fastest one's is not tried any further.
///
/// At the end the kernel with the least median is added to tuning(runtime), where jitc tune adds its choices;
/// with `remember`, also to the file of choices in the cache directory, so that later processes begin with
/// it. If it is not at least 1 % faster than the default kernel, the default kernel is added instead. New and
/// existing plans of the shape, and new ones of near shapes, use it. A shape for which tuning(runtime) has an
/// added choice is not tried; one that has only a shipped choice is.
///
/// Costs: a call makes at most one further kernel, in the calling thread, so up to `candidates` − 1 calls of
/// a shape take as long as the compiler does, unless the kernel is in the cache. With WhenMissing::serve
/// background threads make these kernels. A timed call also records two events. At most `max_calls` calls
/// launch candidates. With `remember` one call writes the file. A plan keeps the tried kernels until it is
/// destroyed. Calls of a shape whose trial has ended cost as much as without trials.
///
/// A kernel that cannot be made or launched is logged and left out; that call launches the default kernel.
/// While a stream is captured, its launches use the kernel chosen so far; nothing is made or timed. Threads
/// share the trial of a shape; a thread that would have to wait for another launches the default kernel. No
/// trials are made for operations of several kernels (concat, split), for plans of a family that the caller
/// chose, and for tensors whose relative offset or alignment to 16 bytes differs from the plan's. Other work
/// that runs on the device at the same time lengthens the times. The simulated device counts instructions as
/// time, which says nothing about a GPU.
struct Improve {
  std::uint32_t candidates = 0;  ///< kernels that are tried, the default one included; below 2: none
  /// Times that each kernel near the fastest is measured, 1 to 100. If several remain near it, each is
  /// measured five times as often, as far as `max_calls` allows.
  std::uint32_t timed_calls = 3;
  /// The calls of a shape that its trial uses, at most: each kernel's first, which is not timed, and the
  /// timed ones. The kernels that are predicted fastest come first.
  std::uint32_t max_calls = 20;
  /// Moves that are predicted to take fewer microseconds are not tried: events around a short kernel mostly
  /// time its launch.
  double min_predicted_us = 20;
  bool remember = false;  ///< keep the results in the cache directory
};

struct KernelRecord;

/// `$TMAJIT_STATS_DIR` and `$TMAJIT_DUMP_DIR`; nothing if they are unset or empty.
[[nodiscard]] TMAJIT_API std::optional<std::filesystem::path> default_statistics_directory();
[[nodiscard]] TMAJIT_API std::optional<std::filesystem::path> default_dump_directory();
/// `$TMAJIT_RECORD`; empty without that variable.
[[nodiscard]] TMAJIT_API std::filesystem::path recording_file();

struct RuntimeOptions {
  /// The device that runs the kernels. Null: everything up to the cubin works, launching throws
  /// Error{unavailable}.
  std::shared_ptr<Device> device = {};
  /// The folder of compiled kernels; nullopt keeps them in memory only.
  std::optional<std::filesystem::path> cache_directory = DiskCache::default_directory();
  CompileOptions compile = {};
  /// The chip to plan for without a device.
  Chip chip = {};
  /// Number of kernels that the runtime caches. Beyond it, the least recently used kernels are evicted. The
  /// code of a kernel is unloaded when no Kernel, plan or prepared launch holds it either.
  std::size_t max_cached_kernels = 1024;
  Improve improve = {};

  /// Bound of the bytes in cache_directory; 0 means no bound. Beyond it, the least recently used kernels are
  /// evicted (DiskCache::store).
  std::uint64_t max_cache_bytes = default_max_cache_bytes();
  /// Further folders of compiled kernels, which are searched after cache_directory and never changed: those
  /// of a container image, or of a disk that many machines mount.
  std::vector<std::filesystem::path> read_only_caches = {};
  /// Whether a kernel that is in no level of the cache is compiled (docs/ready.md).
  WhenMissing when_missing = WhenMissing::compile;
  /// Whether a kernel may be served whose results are rounded in another way than the planned kernel's: sums,
  /// scans and rows of floating-point numbers, and expressions that multiply. Without it, the caller waits
  /// for the kernel of such an operation, so that a swap changes no bit of a result.
  bool allow_other_rounding = false;
  /// Threads, of the lowest priority, that make the better kernels of WhenMissing::serve and those of
  /// prefetch(). They start when there is something to make, and end when it is made. 0: plans keep the
  /// kernels that they are served, and prefetch() starts one thread.
  std::uint32_t background_compiles = 2;
  /// The store of kernels that machines share; without a URL there is none.
  FleetOptions fleet = FleetOptions::from_environment();
  /// Publishes the counters (counters.hpp) in a file of this folder, for `jitc top`; nullopt does not.
  std::optional<std::filesystem::path> statistics_directory = default_statistics_directory();
  /// Keeps source, PTX, cubin, SASS and plan of every kernel that the runtime makes in this folder, which
  /// grows without limit.
  std::optional<std::filesystem::path> dump_directory = default_dump_directory();
  /// Called after each kernel that the runtime makes, by the thread that made it, without a lock. Other
  /// threads that wait for this kernel wait for the call, too. It must not ask for the same kernel. An
  /// exception is logged.
  std::function<void(const KernelRecord&)> on_kernel = {};
  /// Packs that are searched before the shipped ones: files, or folders of `*.pack` (pack.hpp). A pack that
  /// cannot be used is logged and skipped.
  std::vector<std::filesystem::path> packs = {};
  bool shipped_packs = true;  ///< search shipped_packs(), too
  /// A manifest to which the runtime appends a line for each kernel that it compiles (kernel_recipe.hpp).
  /// Default: `$TMAJIT_RECORD`. Empty: none.
  std::filesystem::path record = recording_file();
};

/// Milliseconds of each step that made a kernel; zero for a step that was not needed.
struct StageTimes {
  double generate = 0;
  double key = 0;
  double fetch = 0;  ///< from disk; includes waiting for another process that compiles the kernel
  double compile = 0;
  double store = 0;
  double load = 0;
};

/// A launch with its tensor maps encoded: everything that a kernel call needs, ready to be enqueued again and
/// again, on any stream and inside graph capture. The call operator is const and thread-safe; rebind() is for
/// one thread at a time.
class TMAJIT_API PreparedLaunch {
 public:
  /// Enqueues the launch. Throws Error{invalid_argument} if this object was moved from.
  void operator()(Stream stream = nullptr) const;
  /// Moves the launch to other addresses of the same views: new values of KernelPlan::operand_address(), the
  /// destination's first, then the sources'; for an OwnLaunch, its tensors' addresses. They must have the
  /// planned alignment, and a source may overlap the destination's bytes only if the planned source did. Only
  /// their number is checked. Throws Error{invalid_argument} for a wrong number, or if this was moved from.
  void rebind(List<DevicePtr> operands);
  [[nodiscard]] const LaunchShape& shape() const noexcept;
  /// Bytes that the launch reads and writes, each element once; for an OwnLaunch, the bytes of all its
  /// tensors.
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

struct KernelState;

/// A compiled kernel, loaded where the runtime has a device. Cheap to copy; thread-safe.
class TMAJIT_API Kernel {
 public:
  /// The kernel's source, PTX, cubin and log. They are read from the cache directory, or made again if the
  /// entry has gone. A kernel keeps them in memory only if there is no cache directory, or it could not be
  /// written. Packs hold neither source nor log: these are made again, and without NVRTC they are empty.
  /// Throws CompileError, Error{unavailable} if they cannot be made.
  [[nodiscard]] Artifact artifact() const;
  /// Its name in PTX and cubin: "tmajit_copy".
  [[nodiscard]] const std::string& entry() const noexcept;
  [[nodiscard]] const Resources& resources() const noexcept;
  [[nodiscard]] const CacheKey& key() const noexcept;
  /// Where this kernel came from when the runtime first needed it, and the times of that request.
  [[nodiscard]] CacheLevel level() const noexcept;
  [[nodiscard]] const StageTimes& times() const noexcept;

  /// The launch of a plan of this kernel, with its tensor maps encoded. Throws Error{unavailable} without a
  /// device, Error{invalid_argument} for a plan of another kernel.
  [[nodiscard]] PreparedLaunch prepare(const KernelPlan& plan) const;
  /// A launch of a user's own kernel. Throws Error{unavailable} without a device, SpecError with every rule
  /// that its tensor maps break, Error{invalid_argument} where arguments and parameters differ in number or
  /// in bytes, so far as the device tells what the kernel takes, and for a tensor index out of range.
  [[nodiscard]] PreparedLaunch prepare(const OwnLaunch& launch) const;
  /// prepare() and launch in one.
  void launch(const KernelPlan& plan, Stream stream = nullptr) const;
  /// A launch of a custom kernel: parameters as for cuLaunchKernelEx. Throws Error{invalid_argument} if the
  /// driver knows that the kernel takes more or fewer.
  void launch(const LaunchShape& shape, std::span<void* const> parameters, Stream stream = nullptr) const;

  // Copied, never moved: a handle is always valid.
  Kernel(const Kernel&) = default;
  Kernel& operator=(const Kernel&) = default;
  ~Kernel() = default;

 private:
  friend struct Inside;
  explicit Kernel(std::shared_ptr<const KernelState> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<const KernelState> state_;
};

struct RuntimeState;

/// Ties generator, compiler, cache and device together. A handle: copies are the same runtime, which lives as
/// long as one of them or a plan made by it. Kernels and prepared launches live independently. Thread-safe:
/// if several threads, or processes that share a cache directory, request one kernel at once, it is compiled
/// once.
///
/// A forked child can continue to use a Runtime, but no GPU, which CUDA does not allow. Kernels that another
/// thread of the parent was making at the fork are made again by the child. A fork waits until no thread is
/// inside NVRTC.
class TMAJIT_API Runtime {
 public:
  explicit Runtime(RuntimeOptions options = {});
  // Copied, never moved: a handle is always valid.
  Runtime(const Runtime&) = default;
  Runtime& operator=(const Runtime&) = default;
  ~Runtime() = default;

  /// The kernel of a plan: from memory, from disk, or compiled. A memory hit builds no text.
  /// Throws CompileError, Error{unavailable}, MissingKernelError (WhenMissing::refuse).
  [[nodiscard]] Kernel kernel(const KernelPlan& plan) const;
  /// The same for a source of the user's own, see custom_source(). `shared_bytes` is the most dynamic shared
  /// memory that its launches will ask for.
  [[nodiscard]] Kernel kernel(const Source& source, std::uint32_t shared_bytes = 0) const;

  /// The chip that plans are made for: the device's or, without one, RuntimeOptions::chip.
  [[nodiscard]] const Chip& chip() const noexcept;
  [[nodiscard]] const std::shared_ptr<Device>& device() const noexcept;

 private:
  friend struct Inside;
  explicit Runtime(std::shared_ptr<RuntimeState> state) noexcept : state_(std::move(state)) {}
  std::shared_ptr<RuntimeState> state_;
};

TMAJIT_END
