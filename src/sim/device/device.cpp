#include "check/rules.hpp"
#include "sim/decode/decode.hpp"
#include "sim/device/allocate_between.hpp"
#include "sim/device/globals.hpp"
#include "sim/launch/flights.hpp"
#include "sim/launch/launch.hpp"
#include "sim/memory/global_memory.hpp"
#include "spec/enum_names.hpp"
#include "spec/refuse.hpp"

#include <tmajit/chip.hpp>
#include <tmajit/error.hpp>
#include <tmajit/sim.hpp>
#include <tmajit/validate.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr EnumNames<SimOptions::Mode, 3> sim_modes{"mode of the simulated device",
                                                   {"late", "early", "random"}};

}  // namespace

std::string_view name(SimOptions::Mode mode) noexcept {
  return sim_modes.of(mode);
}
template <>
SimOptions::Mode parse<SimOptions::Mode>(std::string_view text) {
  return sim_modes.parse(text);
}

namespace sim {
namespace {

/// The state of a device, which its kernels share: kernels may outlive the device.
struct State {
  explicit State(const SimOptions& sim_options)
      : options(sim_options),
        memory(sim_options.memory_bytes, range.first_address()),
        heap(sim_options.heap_bytes) {}

  SimOptions options;
  DeviceRange range;
  GlobalMemory memory;
  DeviceHeap heap;
  TensorMaps maps;
  Streams streams;
  std::mutex mutex;  ///< a launch holds it while it runs; it also guards the members below
  std::vector<Report> reports;
  std::vector<Report> pending;  ///< reports of launches since the last synchronize()
  std::set<Stream> created;     ///< streams that have not been destroyed
  std::uint64_t streams_created = 0;
  std::uint64_t thread_instructions = 0;

  /// Throws Error{invalid_argument} for a stream that this device does not have. Null and the driver's two
  /// handles of default streams (1, 2) are legal for every device.
  void require_stream(Stream stream) {
    if (reinterpret_cast<std::uintptr_t>(stream) <= 2) return;
    const std::lock_guard lock(mutex);
    if (created.contains(stream)) return;
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("stream {} is no stream of this simulated device: another device created it, or it "
                    "was destroyed",
                    fmt::ptr(stream)));
  }

  /// Records a mistake of the host, which the next synchronize() throws.
  void report_host(check::RuleId rule, const std::string& found) {
    if (std::ranges::find(options.allowed, rule->id) != options.allowed.end()) return;
    Report report;
    check::describe(report, rule, found, {}, {});
    const std::lock_guard lock(mutex);
    if (options.sink) options.sink(report);
    reports.push_back(report);
    pending.push_back(std::move(report));
  }

  /// Runs a launch. `globals` may be null.
  void run(const std::shared_ptr<Program>& loaded, const Globals* globals, const LaunchShape& shape,
           std::span<void* const> parameters, std::uint64_t ctas_at_once, Stream stream) {
    const Program& program = *loaded;
    // Memory for CUDA's cooperative groups: a size and the counter of the grid barrier.
    std::optional<OwnMemory> workspace;
    if (shape.cooperative) workspace.emplace(memory, 8, 8);
    if (parameters.size() != program.parameters.size()) {
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("kernel \"{}\" takes {} parameters, the launch gives {}", program.entry,
                              program.parameters.size(), parameters.size()));
    }
    Launch launch{program, shape, options, maps, {}, memory.regions(), {}, 0, false, 0, {}, false, nullptr};
    launch.number = maps.begin_launch();
    launch.ctas_at_once = ctas_at_once;
    if (options.seconds_limit > 0) {
      launch.deadline = std::chrono::steady_clock::now() +
                        std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                            std::chrono::duration<double>(std::min(options.seconds_limit, 1e9)));
    }
    if (workspace) launch.grid_workspace = workspace->address();
    launch.cluster = program.cluster.value_or(shape.cluster);
    launch.explicit_cluster = program.cluster || shape.cluster != LaunchShape{}.cluster;
    launch.parameters.resize(program.parameter_bytes);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      std::memcpy(launch.parameters.data() + program.parameters[i].offset, parameters[i],
                  program.parameters[i].bytes);
    }
    const std::uint32_t threads =
        options.threads != 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
    const std::lock_guard lock(mutex);
    if (globals != nullptr && !globals->constants.empty()) loaded->constant_bank = globals->constants;
    if (!heap.begin_launch() || program.uses_heap) launch.heap = &heap;
    launch.overlapped = streams.before(stream, shape);
    sim::run(launch, threads);
    streams.add(stream, std::make_shared<const Flight>(Flight{loaded, shape, launch.cluster, launch.order,
                                                              launch.waited, launch.triggered}));
    if (launch.heap != nullptr && !launch.stopped) report_lost(launch);
    thread_instructions += launch.thread_instructions;
    launch.reports.drop_allowed(options.allowed, launch.stopped);
    for (Report& report : launch.reports.take()) {
      if (options.sink) options.sink(report);
      reports.push_back(report);
      pending.push_back(std::move(report));
    }
  }
};

class SimKernel final : public LoadedKernel {
 public:
  SimKernel(std::shared_ptr<State> state, Program program, std::shared_ptr<Globals> globals)
      : state_(std::move(state)),
        globals_(std::move(globals)),
        program_(std::make_shared<Program>(std::move(program))) {}

  void launch(const LaunchShape& shape, std::span<void* const> parameters, Stream stream) const override {
    state_->require_stream(stream);
    const std::uint64_t threads = volume(shape.block);
    const auto refuse = [&](const std::string& why) {
      throw Error(ErrorCode::device_failed,
                  fmt::format("kernel \"{}\" cannot be launched: {}", program_->entry, why));
    };
    if (volume(shape.grid) == 0 || threads == 0) refuse("the grid or the block is empty");
    if (threads > program_->max_threads) {
      refuse(fmt::format("a block of {} threads, at most {} are legal", threads, program_->max_threads));
    }
    if (shape.shared_bytes > allowed_shared_bytes_) {
      refuse(fmt::format("{} bytes of dynamic shared memory, allowed are {} (allow_shared_bytes)",
                         shape.shared_bytes, allowed_shared_bytes_));
    }
    if (program_->static_shared_bytes + shape.shared_bytes > max_shared_bytes) {
      refuse(fmt::format("{} bytes of shared memory, a CTA has {}",
                         program_->static_shared_bytes + shape.shared_bytes, max_shared_bytes));
    }
    if (const std::string why = why_no_cluster(shape); !why.empty()) refuse(why);
    const std::uint64_t per_sm = ctas_per_sm(static_cast<std::uint32_t>(threads), shape.shared_bytes);
    std::uint64_t at_once = per_sm * state_->options.sm_count;
    if (shape.cooperative) {
      // Plans for a simulated device are those for an H200, whose CTAs all run at once.
      at_once = std::max(at_once, per_sm * Chip{}.sm_count);
      if (volume(shape.grid) > at_once) {
        refuse(fmt::format("a cooperative launch of {} CTAs, of which {} are on the chip at once",
                           volume(shape.grid), at_once));
      }
    }
    if (shape.scratch_bytes == 0)
      return state_->run(program_, globals_.get(), shape, parameters, at_once, stream);
    const OwnMemory scratch(state_->memory, shape.scratch_bytes, scratch_zeros);
    std::vector<void*> all(parameters.begin(), parameters.end());
    std::uint64_t address = scratch.address();
    // The last parameter of a kernel with scratch memory is its address.
    if (!all.empty()) all.back() = &address;
    state_->run(program_, globals_.get(), shape, all, at_once, stream);
    if (!scratch.leaves_zeros()) refuse("it has not restored the zeros of its scratch memory");
  }

  [[nodiscard]] std::optional<std::uint32_t> parameter_count() const override {
    return static_cast<std::uint32_t>(program_->parameters.size());
  }
  [[nodiscard]] std::optional<std::uint32_t> parameter_bytes(std::uint32_t index) const override {
    if (index >= program_->parameters.size()) return std::nullopt;
    return program_->parameters[index].bytes;
  }

  void allow_shared_bytes(std::uint32_t bytes) override {
    if (bytes + program_->static_shared_bytes > max_shared_bytes) {
      throw Error(
          ErrorCode::device_failed,
          fmt::format(
              "kernel \"{}\" cannot have {} bytes of dynamic shared memory; a CTA has {}, of which {} "
              "are static",
              program_->entry, bytes, max_shared_bytes, program_->static_shared_bytes));
    }
    allowed_shared_bytes_ = std::max(allowed_shared_bytes_, bytes);
  }

  [[nodiscard]] std::uint32_t ctas_per_sm(std::uint32_t threads, std::uint32_t shared_bytes) const override {
    // An SM has room for 2048 threads, in whole warps, and for 32 CTAs. It has 228 KiB of shared memory, and
    // each CTA takes 1 KiB more than it asks for.
    const std::uint32_t by_threads = 2048 / ((std::max(threads, 1U) + 31) / 32 * 32);
    const std::uint32_t by_memory = 228 * 1024 / (shared_bytes + program_->static_shared_bytes + 1024);
    return std::min({32U, by_threads, by_memory});
  }

 private:
  /// Why the kernel cannot be launched with the shape's clusters; empty if it can.
  [[nodiscard]] std::string why_no_cluster(const LaunchShape& shape) const {
    const bool given = shape.cluster != LaunchShape{}.cluster;
    const auto extent_text = [](const auto& n) { return fmt::format("{}x{}x{}", n[0], n[1], n[2]); };
    if (given && program_->cluster && *program_->cluster != shape.cluster) {
      return fmt::format("clusters of {} CTAs, its .reqnctapercluster asks for {}",
                         extent_text(shape.cluster), extent_text(*program_->cluster));
    }
    if (program_->explicit_cluster && !given && !program_->cluster)
      return "its .explicitcluster asks for a launch that gives the cluster's dimensions";
    const auto cluster = program_->cluster.value_or(shape.cluster);
    const std::uint64_t ctas = volume(cluster);
    if (ctas == 0 || ctas > max_cluster || cluster[0] > max_cluster || cluster[1] > max_cluster) {
      return fmt::format("clusters of {} CTAs, 1 to {} are legal", extent_text(cluster), max_cluster);
    }
    for (std::size_t d = 0; d < 3; ++d) {
      if (shape.grid[d] % cluster[d] != 0) {
        return fmt::format("a grid of {} CTAs in clusters of {}; a cluster's extent divides the grid's",
                           extent_text(shape.grid), extent_text(cluster));
      }
    }
    return {};
  }

  std::shared_ptr<State> state_;
  std::shared_ptr<Globals> globals_;  ///< null: the kernel uses no module variables
  std::shared_ptr<Program> program_;
  std::uint32_t allowed_shared_bytes_ = 48 * 1024;  ///< of dynamic shared memory
};

/// Times are reproducible: one millisecond is a million thread-instructions.
class SimTimer final : public StreamTimer {
 public:
  explicit SimTimer(std::shared_ptr<State> state) : state_(std::move(state)) {}
  void start(Stream) override { start_ = now(); }
  void stop(Stream) override { stop_ = now(); }
  [[nodiscard]] std::optional<float> milliseconds() override {
    return static_cast<float>(stop_ - start_) / 1e6F;
  }

 private:
  [[nodiscard]] std::uint64_t now() const {
    const std::lock_guard lock(state_->mutex);
    return state_->thread_instructions;
  }
  std::shared_ptr<State> state_;
  std::uint64_t start_ = 0;
  std::uint64_t stop_ = 0;
};

class Simulator final : public SimDevice,
                        public ModuleHost,
                        private DeviceMemory,
                        private DeviceStreams,
                        private DeviceKernels,
                        private DeviceMaps,
                        private DeviceTiming {
 public:
  explicit Simulator(const SimOptions& options) : state_(std::make_shared<State>(options)) {
    info_.name = "simulated Hopper";
    info_.compute_major = 9;
    info_.sm_count = options.sm_count;
    info_.max_shared_bytes = max_shared_bytes;
    info_.memory_bytes = options.memory_bytes;
    info_.l2_bytes = 50ULL << 20;
  }

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] DeviceMemory& memory() noexcept override { return *this; }
  [[nodiscard]] DeviceStreams& streams() noexcept override { return *this; }
  [[nodiscard]] DeviceKernels& kernels() noexcept override { return *this; }
  [[nodiscard]] DeviceMaps& maps() noexcept override { return *this; }
  [[nodiscard]] DeviceTiming& timing() noexcept override { return *this; }
  [[nodiscard]] bool runs_ptx() const noexcept override { return true; }
  [[nodiscard]] std::vector<Report> reports() const override {
    const std::lock_guard lock(state_->mutex);
    return state_->reports;
  }
  void clear_reports() override {
    const std::lock_guard lock(state_->mutex);
    state_->reports.clear();
    state_->pending.clear();
  }
  [[nodiscard]] std::uint64_t thread_instructions() const override {
    const std::lock_guard lock(state_->mutex);
    return state_->thread_instructions;
  }
  [[nodiscard]] DevicePtr allocate_between(std::uint64_t bytes, std::uint64_t past) {
    return state_->memory.allocate(bytes, past);
  }

 private:
  [[nodiscard]] DevicePtr allocate(std::uint64_t bytes) override { return state_->memory.allocate(bytes); }
  void free(DevicePtr pointer) noexcept override {
    if (pointer == 0 || state_->memory.free(pointer)) return;
    state_->report_host(
        "host.free", fmt::format("the host frees {:#x}, where no allocation of this device begins", pointer));
  }
  void copy_in(DevicePtr destination, std::span<const std::byte> source, Stream stream) override {
    state_->require_stream(stream);
    state_->streams.finish(stream);
    if (!source.empty())
      std::memcpy(state_->memory.at(destination, source.size()).get(), source.data(), source.size());
  }
  void copy_out(std::span<std::byte> destination, DevicePtr source, Stream stream) override {
    state_->require_stream(stream);
    state_->streams.finish(stream);
    if (!destination.empty()) {
      std::memcpy(destination.data(), state_->memory.at(source, destination.size()).get(),
                  destination.size());
    }
  }
  void copy(DevicePtr destination, DevicePtr source, std::uint64_t bytes, Stream stream) override {
    state_->require_stream(stream);
    state_->streams.finish(stream);
    std::memmove(state_->memory.at(destination, bytes).get(), state_->memory.at(source, bytes).get(), bytes);
  }
  void fill(DevicePtr destination, std::byte value, std::uint64_t bytes, Stream stream) override {
    state_->require_stream(stream);
    state_->streams.finish(stream);
    std::memset(state_->memory.at(destination, bytes).get(), std::to_integer<int>(value), bytes);
  }

  void synchronize(Stream stream) override {
    state_->require_stream(stream);
    state_->streams.finish(stream);
    std::vector<Report> reports;
    {
      const std::lock_guard lock(state_->mutex);
      reports.swap(state_->pending);
    }
    if (reports.empty()) return;
    std::string message = fmt::format("the simulator has {} report{} (seed {}):", reports.size(),
                                      reports.size() == 1 ? "" : "s", state_->options.seed);
    for (const Report& report : reports) {
      message += '\n';
      message += report.text();
    }
    throw Error(ErrorCode::device_failed, message);
  }

  [[nodiscard]] Stream create() override {
    const std::lock_guard lock(state_->mutex);
    // A stream is only a handle: every launch runs synchronously.
    return *state_->created.insert(state_->range.stream(++state_->streams_created)).first;
  }
  void destroy(Stream stream) noexcept override {
    state_->streams.finish(stream);
    {
      const std::lock_guard lock(state_->mutex);
      if (stream == nullptr || state_->created.erase(stream) != 0) return;
    }
    state_->report_host(
        "host.stream",
        fmt::format("the host destroys stream {}, which this device does not have", fmt::ptr(stream)));
  }
  [[nodiscard]] std::vector<float> time(Stream, std::uint32_t repeats,
                                        const std::function<void()>& work) override {
    std::vector<float> times;
    for (std::uint32_t i = 0; i < repeats; ++i) {
      const auto start = std::chrono::steady_clock::now();
      work();
      times.push_back(
          std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    return times;
  }
  [[nodiscard]] std::unique_ptr<StreamTimer> timer() override { return std::make_unique<SimTimer>(state_); }

  [[nodiscard]] EncodedTensorMap encode(const TensorMapSpec& spec, DevicePtr address) override {
    // A launch with new addresses does not call validate(), so a misaligned address is rejected here, as by
    // the driver.
    if (address % (spec.interleave == Interleave::b32 ? 32 : 16) != 0)
      throw SpecError(validate(spec, address));
    return state_->maps.encode(spec, address);
  }

  [[nodiscard]] std::unique_ptr<LoadedKernel> load(const Artifact& artifact) override {
    Program program = decode_at(artifact.ptx, artifact.entry, 0);
    if (!program.uses_globals) return make_kernel(std::move(program), nullptr);
    auto globals = place_globals(*this, artifact.ptx, program);
    return make_kernel(std::move(program), std::move(globals));
  }

  [[nodiscard]] GlobalMemory& global_memory() noexcept override { return state_->memory; }
  [[nodiscard]] std::mutex& launches() noexcept override { return state_->mutex; }
  [[nodiscard]] Program decode_at(const std::string& ptx, const std::string& entry,
                                  std::uint64_t base) const override {
    return decode(ptx, entry, base, state_->options.project);
  }
  [[nodiscard]] std::unique_ptr<LoadedKernel> make_kernel(Program program,
                                                          std::shared_ptr<Globals> globals) override {
    return std::make_unique<SimKernel>(state_, std::move(program), std::move(globals));
  }

  std::shared_ptr<State> state_;
  DeviceInfo info_;
};

}  // namespace

DevicePtr allocate_between(Device& device, std::uint64_t bytes, std::uint64_t past) {
  auto* const simulator = dynamic_cast<Simulator*>(&device);
  if (simulator == nullptr || past >= allocation_alignment) {
    throw Error(ErrorCode::invalid_argument,
                simulator == nullptr
                    ? std::string("only a simulated device allocates between its boundaries")
                    : fmt::format("an allocation {} bytes past a boundary; 0 to {} are legal", past,
                                  allocation_alignment - 1));
  }
  return simulator->allocate_between(bytes, past);
}

}  // namespace sim

std::shared_ptr<SimDevice> make_sim_device(const SimOptions& options) {
  if (options.sm_count == 0) refuse("a simulated device with 0 SMs; 1 or more are needed");
  for (const std::string& rule : options.allowed) {
    if (const std::string why = check::why_unknown(rule); !why.empty())
      throw Error(ErrorCode::invalid_argument, why);
  }
  return std::make_shared<sim::Simulator>(options);
}

TMAJIT_END
