#include "sequences/backend.hpp"

#include "lib/null_device.hpp"
#include "raw_libraries.hpp"
#include "sequences/journal.hpp"

#include <tmajit/sim.hpp>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <string>
#include <utility>

#include <unistd.h>

using namespace tmajit;

namespace sequences {

std::unique_ptr<Graph> Backend::capture(Stream, std::uint64_t, bool, const std::function<void()>&) {
  throw std::logic_error("this device has no graphs");
}

namespace {

/// Counts the null devices that exist, and those that were destroyed before their objects. It is never
/// destroyed, because devices may be static objects.
struct Leaks {
  std::atomic<std::int64_t> devices = 0;
  std::atomic<std::int64_t> unbalanced = 0;  ///< devices whose memory, kernels or timers still existed
};

class CountedDevice final : public tools::NullDevice {
 public:
  explicit CountedDevice(Leaks& leaks) : leaks_(leaks) { ++leaks_.devices; }
  ~CountedDevice() override {
    --leaks_.devices;
    if (allocations_alive() != 0 || kernels_alive() != 0 || timers_alive() != 0) ++leaks_.unbalanced;
  }
  CountedDevice(const CountedDevice&) = delete;
  CountedDevice& operator=(const CountedDevice&) = delete;

 private:
  Leaks& leaks_;
};

class NullBackend final : public Backend {
 public:
  std::shared_ptr<Device> open() override { return std::make_shared<CountedDevice>(leaks()); }
  [[nodiscard]] bool computes() const override { return false; }
  [[nodiscard]] bool survives_fork() const override { return true; }
  void check_nothing_left() override {
    if (leaks().devices != 0) throw Failure(std::to_string(leaks().devices) + " devices have leaked");
    if (leaks().unbalanced != 0) throw Failure("a device was destroyed before its memory, kernels or timers");
  }

 private:
  static Leaks& leaks() {
    static Leaks& one = *new Leaks;
    return one;
  }
};

class SimBackend final : public Backend {
 public:
  std::shared_ptr<Device> open() override { return make_sim_device(); }
  [[nodiscard]] bool computes() const override { return true; }
  [[nodiscard]] bool survives_fork() const override { return false; }
};

class GpuGraph final : public Graph {
 public:
  GpuGraph(const bench::RawDriver& driver, CUgraph graph) : driver_(driver), graph_(graph) {
    driver_.check(driver_.cuGraphInstantiateWithFlags(&exec_, graph_, 0), "cuGraphInstantiateWithFlags");
  }
  ~GpuGraph() override {
    if (::getpid() != process_) return;  // a child has no driver
    driver_.make_current();
    drop_template();
    if (exec_ != nullptr) driver_.cuGraphExecDestroy(exec_);
  }
  GpuGraph(const GpuGraph&) = delete;
  GpuGraph& operator=(const GpuGraph&) = delete;
  void launch(Stream stream) const override {
    driver_.make_current();
    driver_.check(driver_.cuGraphLaunch(exec_, stream), "cuGraphLaunch");
  }
  void drop_template() override {
    if (const CUgraph graph = std::exchange(graph_, nullptr)) driver_.cuGraphDestroy(graph);
  }

 private:
  const bench::RawDriver& driver_;
  CUgraph graph_;
  CUgraphExec exec_ = nullptr;
  ::pid_t process_ = ::getpid();
};

class GpuBackend final : public Backend {
 public:
  explicit GpuBackend(int ordinal)
      : ordinal_(ordinal), first_(open_gpu(ordinal)), driver_(*new bench::RawDriver(ordinal)) {}

  std::shared_ptr<Device> open() override { return open_gpu(ordinal_); }
  [[nodiscard]] bool computes() const override { return true; }
  [[nodiscard]] bool survives_fork() const override { return false; }
  [[nodiscard]] bool has_graphs() const override { return true; }

  std::unique_ptr<Graph> capture(Stream stream, std::uint64_t mode, bool threads_allocate,
                                 const std::function<void()>& work) override {
    constexpr std::array modes{CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_RELAXED,
                               CU_STREAM_CAPTURE_MODE_GLOBAL};
    driver_.make_current();
    driver_.check(driver_.cuStreamBeginCapture(stream, modes[mode % (threads_allocate ? 2 : 3)]),
                  "cuStreamBeginCapture");
    CUgraph graph = nullptr;
    try {
      work();
    } catch (...) {
      if (driver_.cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS) driver_.cuGraphDestroy(graph);
      throw;
    }
    driver_.check(driver_.cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
    return std::make_unique<GpuGraph>(driver_, graph);
  }

  /// The driver itself keeps some memory, increasingly during the first sequences; `allowed` covers it.
  /// Kernels that are never unloaded would exceed any limit.
  void check_nothing_left() override {
    constexpr std::uint64_t warmup_checks = 20;
    constexpr std::size_t allowed = std::size_t{64} << 20;
    std::size_t free = 0;
    std::size_t total = 0;
    driver_.make_current();
    driver_.check(driver_.cuMemGetInfo(&free, &total), "cuMemGetInfo");
    if (++checks_ <= warmup_checks) lowest_free_ = checks_ == 1 ? free : std::min(lowest_free_, free);
    if (free + allowed < lowest_free_) {
      throw Failure(std::to_string((lowest_free_ - free) >> 20) + " MiB of device memory have leaked");
    }
  }

 private:
  int ordinal_;
  std::shared_ptr<Device> first_;
  const bench::RawDriver& driver_;  // never destroyed: graphs may be static
  std::uint64_t checks_ = 0;
  std::size_t lowest_free_ = 0;
};

}  // namespace

std::unique_ptr<Backend> make_backend(std::string_view device) {
  if (device == "null") return std::make_unique<NullBackend>();
  if (device == "sim") return std::make_unique<SimBackend>();
  int ordinal = 0;
  if (device.starts_with("gpu:")) {
    const char* const end = device.data() + device.size();
    const auto [at, error] = std::from_chars(device.data() + 4, end, ordinal);
    if (error == std::errc() && at == end) return std::make_unique<GpuBackend>(ordinal);
  }
  throw std::invalid_argument("there is no device '" + std::string(device) + "'; null, sim and gpu:0 exist");
}

}  // namespace sequences
