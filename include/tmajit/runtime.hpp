#pragma once

#include <tmajit/cache.hpp>
#include <tmajit/device.hpp>
#include <tmajit/kernel_plan.hpp>
#include <tmajit/list.hpp>
#include <tmajit/own_launch.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

TMAJIT_BEGIN

/// Choices that improve while a program runs. The first calls of a shape class (tuning.hpp) take turns at a
/// few kernels that could do them, on the caller's own tensors, and the fastest becomes the class's choice.
///
/// The candidates: the kernel that would be taken anyhow (the usual one), then those that the cost model
/// finds fastest, up to half as slow again as the fastest of all. Each call launches one kernel, as ever, and
/// none waits: the device's clock is read around the launch (StreamTimer), and a later call takes the time.
/// The first launch of a kernel for a shape is not timed, for it loads the code. When every kernel has its
/// times, the one of the least median is added to tuning(runtime), in memory alone, where jitc tune adds what
/// it finds. New and existing plans use it. It must take 1 % less than the usual one, which is added
/// otherwise. A class for which tuning(runtime) has an added choice is not tried; one for which a choice is
/// only shipped is.
///
/// Costs: a call makes at most one further kernel, in the calling thread, so up to `candidates` − 1
/// calls of a class take as long as the compiler does, unless the kernel is in the cache. A call that is
/// timed takes two events' time more on the CPU. A plan's references to the other kernels end with it. Calls
/// of a settled class cost what they cost without all this.
///
/// A kernel that cannot be made or launched is logged and left out; that call takes the usual one. While a
/// stream is captured its launches take the kernel that they have so far, and make and time nothing. Threads
/// help each other with a class; one that would have to wait for another takes the usual kernel. Operations
/// of several kernels (concat, split), plans of a family that the caller chose, and tensors
/// whose relative offset or alignment to 16 bytes differs from the plan's take no part. Other work that runs
/// on the device meanwhile is in the times. The simulated device counts instructions for time, which says
/// nothing of a GPU.
struct Improve {
  std::uint32_t candidates = 0;  ///< kernels that are tried, the usual one included; below 2: none
  /// Number of times each is measured, 1 to 100; five times as many for those within 5 % of the fastest, to
  /// tell them apart.
  std::uint32_t timed_calls = 3;
  /// Moves of fewer microseconds, as predicted, are left alone: events around a short kernel time its launch.
  double least_us = 20;
};

struct RuntimeOptions {
  /// The device that runs the kernels. Null: everything up to the cubin works, launching throws
  /// Error{unavailable}.
  std::shared_ptr<Device> device = {};
  /// Where compiled kernels are kept; nullopt keeps them in memory only.
  std::optional<std::filesystem::path> cache_directory = DiskCache::default_directory();
  CompileOptions compile = {};
  /// The chip to plan for without a device.
  Chip chip = {};
  /// Number of kernels that the runtime caches. Beyond it, the least recently used kernels are evicted. The
  /// code of a kernel is unloaded when no Kernel, plan or prepared launch holds it either.
  std::size_t kernels_kept = 1024;
  Improve improve = {};
};

/// Milliseconds of each step that made a kernel; zero for a step that was not needed.
struct StageTimes {
  double generate = 0;
  double key = 0;
  double fetch = 0;  ///< from disk, waiting for another process that compiles it included
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
  /// Makes it one of the same views at other addresses: KernelPlan::operand_address() of each, the
  /// destination's first, then the sources'; of an OwnLaunch its tensors'. They must be aligned as those that
  /// were planned, and no source may reach into the destination's bytes that did not there; nothing is
  /// checked but their number. Throws Error{invalid_argument} for a wrong number, or if this was moved from.
  void rebind(List<DevicePtr> operands);
  [[nodiscard]] const LaunchShape& shape() const noexcept;
  /// Bytes that the launch reads and writes, each element once; of an OwnLaunch those of all its tensors.
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
  /// Its source, PTX, cubin and log, which a kernel does not keep in memory: they are read from the cache
  /// directory, or made again if the entry has gone. Where there is no cache directory, or it could not be
  /// written, they are kept after all. Throws CompileError, Error{unavailable} if they cannot be made.
  [[nodiscard]] Artifact artifact() const;
  /// Its name in PTX and cubin: "tmajit_copy".
  [[nodiscard]] const std::string& entry() const noexcept;
  [[nodiscard]] const Resources& resources() const noexcept;
  [[nodiscard]] const CacheKey& key() const noexcept;
  /// Where this kernel came from when it was first asked of this runtime, and what that took.
  [[nodiscard]] CacheLevel level() const noexcept;
  [[nodiscard]] const StageTimes& times() const noexcept;

  /// The launch of a plan whose kernel this is: its tensor maps encoded. Throws Error{unavailable} without a
  /// device, Error{invalid_argument} for a plan of another kernel.
  [[nodiscard]] PreparedLaunch prepare(const KernelPlan& plan) const;
  /// A launch of a kernel of one's own. Throws Error{unavailable} without a device, SpecError with every rule
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
/// long as one of them or a plan made by it. Kernels and prepared launches keep what they need by themselves.
/// Thread-safe; the same kernel asked for by several threads at once is compiled once, and once by processes
/// that share a cache directory.
///
/// A child that is forked, at whatever moment, can go on with a Runtime (but not with a GPU, which CUDA does
/// not let it use): what another thread of its parent was making it makes by itself. A fork waits until no
/// thread is inside NVRTC.
class TMAJIT_API Runtime {
 public:
  explicit Runtime(RuntimeOptions options = {});
  // Copied, never moved: a handle is always valid.
  Runtime(const Runtime&) = default;
  Runtime& operator=(const Runtime&) = default;
  ~Runtime() = default;

  /// The kernel of a plan: from memory, from disk, or compiled. A memory hit builds no text.
  /// Throws CompileError, Error{unavailable}.
  [[nodiscard]] Kernel kernel(const KernelPlan& plan) const;
  /// The same for a source of the user's own, see custom_source(). `shared_bytes` is the most dynamic shared
  /// memory that its launches will ask for.
  [[nodiscard]] Kernel kernel(const Source& source, std::uint32_t shared_bytes = 0) const;

  /// The chip that plans are made for: the device's or, without one, RuntimeOptions::chip.
  [[nodiscard]] const Chip& chip() const noexcept;
  [[nodiscard]] const std::shared_ptr<Device>& device() const noexcept;

 private:
  friend struct Inside;
  std::shared_ptr<RuntimeState> state_;
};

TMAJIT_END
