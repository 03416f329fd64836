#pragma once

// Part of the library tmajit::sim, as finding.hpp and lint.hpp are.
#include <tmajit/device.hpp>
#include <tmajit/finding.hpp>
#include <tmajit/names.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// A mistake of a kernel on the simulated device, its place, and the thread that made it. Only the first of
/// several mistakes with the same rule and place is reported.
struct Report : Finding {
  std::array<std::uint32_t, 3> cta{};     ///< %ctaid
  std::array<std::uint32_t, 3> thread{};  ///< %tid of the first thread concerned
  std::uint64_t count = 1;                ///< number of such mistakes in this launch

  /// One paragraph with everything above.
  [[nodiscard]] TMAJIT_API std::string text() const;
};

/// The progress of a launch.
struct SimProgress {
  std::uint64_t thread_instructions = 0;  ///< of all threads; updated after about each million of a CTA
  std::uint64_t ctas_done = 0;
  std::uint64_t ctas = 0;  ///< CTAs of the grid
};

struct SimOptions {
  /// When the copy engine executes its operations: as late as the PTX ISA allows, at once, or at moments
  /// drawn from `seed`. `late` shows most mistakes.
  enum class Mode : std::uint8_t { late, early, random };
  Mode mode = Mode::late;
  std::uint64_t seed = 1;
  /// Detects data races, whatever order the accesses happened to run in (rules race.*).
  bool races = true;
  std::uint32_t threads = 0;  ///< host threads that run CTAs; 0: one for each core
  /// Warp-instructions that one CTA may execute before its kernel is taken for an infinite loop.
  std::uint64_t instruction_limit = 500'000'000;
  /// Wall-clock seconds that one launch may take; 0: no limit.
  double seconds_limit = 0;
  std::uint64_t memory_bytes = 16ULL << 30;  ///< global memory that can be allocated
  /// Size of the heap for malloc in kernels (CUDA's cudaLimitMallocHeapSize, and its default).
  std::uint64_t heap_bytes = 8ULL << 20;
  /// SMs, which run CTAs at once. A cooperative launch may have as many CTAs as this number of SMs or an H200
  /// holds, whichever is more.
  std::uint32_t sm_count = 8;
  /// Root folder of the user's project. A mistake in an inlined function is reported at the innermost frame
  /// whose file is below this folder and belongs to no library. Empty: unknown.
  std::string project{};
  /// Rules that are not reported, "mbarrier.init-not-fenced". The launch continues after such a mistake. If
  /// it cannot, the report stays and says so, unless another report says why the launch has ended.
  std::vector<std::string> allowed{};
  /// Continues after reports where that is possible, up to 10,000 of a launch. An instruction that broke a
  /// rule then has no effect: a load gives 0, a store, an arrival or a copy does not happen. synchronize()
  /// still throws.
  bool keep_going = false;
  /// Called with every report of a launch when it has ended, on the thread that launched; may be empty.
  std::function<void(const Report&)> sink{};
  /// Called with the output of kernels' printf, one call after the other, on the host threads that run them.
  /// If it is empty, the text is dropped.
  std::function<void(std::string_view)> print{};
  /// Called about five times a second while a launch runs, on a separate thread; may be empty. Must not
  /// throw, nor use the device.
  std::function<void(const SimProgress&)> progress{};
};

[[nodiscard]] TMAJIT_API std::string_view name(SimOptions::Mode mode) noexcept;
template <>
[[nodiscard]] TMAJIT_API SimOptions::Mode parse<SimOptions::Mode>(std::string_view name);

/// A device that runs the PTX of kernels on the CPU and reports their mistakes. Launches run at once, in
/// order, whatever the stream. A launch with reports makes the next synchronize() throw Error{device_failed}
/// that holds the text of all of them; PTX that the simulator cannot run is Error{unsupported} at load().
class TMAJIT_API SimDevice : public Device {
 public:
  /// The reports of all launches since the last clear_reports(), in order.
  [[nodiscard]] virtual std::vector<Report> reports() const = 0;
  virtual void clear_reports() = 0;
  /// Thread-instructions executed by all launches.
  [[nodiscard]] virtual std::uint64_t thread_instructions() const = 0;
};

/// Makes a simulated Hopper GPU.
[[nodiscard]] TMAJIT_API std::shared_ptr<SimDevice> make_sim_device(const SimOptions& options = {});

TMAJIT_END
