#include "check/rules.hpp"
#include "sim/allocate_between.hpp"
#include "sim/decode.hpp"
#include "sim/flights.hpp"
#include "sim/launch.hpp"
#include "spec/refuse.hpp"

#include <tmajit/error.hpp>
#include <tmajit/sim.hpp>
#include <tmajit/validate.hpp>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <thread>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// What cuMemAlloc guarantees is 256; a guard zone follows each allocation.
constexpr std::uint64_t alignment = 512;
constexpr std::uint64_t guard_bytes = 64 * 1024;

/// A range of addresses, and of streams' names, that no other device of this process has at the same time:
/// what belongs to one device is unknown to another. The lowest that is free, so that runs are alike.
class DeviceRange {
 public:
  DeviceRange() {
    Taken& taken = all();
    const std::lock_guard lock(taken.mutex);
    while (number_ < taken.numbers.size() && taken.numbers[number_]) ++number_;
    if (number_ == taken.numbers.size()) taken.numbers.push_back(true);
    taken.numbers[number_] = true;
  }
  ~DeviceRange() {
    Taken& taken = all();
    const std::lock_guard lock(taken.mutex);
    taken.numbers[number_] = false;
  }
  DeviceRange(const DeviceRange&) = delete;
  DeviceRange& operator=(const DeviceRange&) = delete;

  [[nodiscard]] std::uint64_t first_address() const noexcept {
    return global_begin + number_ % addresses * range_bytes;
  }
  /// Stream `n`, from 1.
  [[nodiscard]] Stream stream(std::uint64_t n) const noexcept {
    return reinterpret_cast<Stream>((number_ << 32U) + n * 16);
  }

 private:
  // All ranges end below the heap of kernels. Devices beyond the last range share addresses.
  static constexpr std::uint64_t range_bytes = std::uint64_t{1} << 40U;
  static constexpr std::uint64_t addresses = 90;
  static_assert(global_begin + addresses * range_bytes <= heap_begin);

  struct Taken {
    std::mutex mutex;
    std::vector<bool> numbers;
  };
  /// The process has one space of addresses. Never destroyed, for devices may outlive static objects.
  static Taken& all() {
    static auto* const taken = new Taken;
    return *taken;
  }
  std::size_t number_ = 0;
};

/// The allocations of a device. Addresses are never given out twice and lie far apart, so that an access past
/// an end or after a free meets nothing. Thread-safe.
class GlobalMemory {
 public:
  GlobalMemory(std::uint64_t capacity, std::uint64_t first) : capacity_(capacity), next_(first) {}

  /// At an address that is `past` bytes more than a multiple of `alignment`. Throws Error{out_of_memory}.
  [[nodiscard]] std::uint64_t allocate(std::uint64_t bytes, std::uint64_t past = 0) {
    const std::lock_guard lock(mutex_);
    const auto full = [&] {
      return Error(ErrorCode::out_of_memory,
                   fmt::format("the simulated device has no room for {} bytes: {} of {} are free", bytes,
                               capacity_ - used_, capacity_));
    };
    if (bytes > capacity_ - used_) throw full();
    const std::uint64_t size = std::max<std::uint64_t>(bytes, 1);
    Region region{next_ + past, size, {}};
    try {
      // Not cleared: the host hands out pages when they are touched. As aligned here as it is there.
      const std::shared_ptr<std::byte[]> memory(new std::byte[past + size]);
      region.memory = {memory, memory.get() + past};
    } catch (const std::bad_alloc&) {
      throw full();
    }
    next_ += (past + size + guard_bytes + alignment - 1) / alignment * alignment;
    used_ += bytes;
    return regions_.emplace(region.begin, std::move(region)).first->first;
  }
  /// Returns whether there was an allocation at that address. Does nothing in a forked child: a thread that
  /// is not there may have held the lock when its parent forked, and the child's memory is a copy that ends
  /// with it.
  bool free(std::uint64_t address) noexcept {
    if (::getpid() != owner_) return true;
    const std::lock_guard lock(mutex_);
    const auto found = regions_.find(address);
    if (found == regions_.end()) return false;
    used_ -= std::min(used_, found->second.bytes);
    regions_.erase(found);
    return true;
  }
  /// The bytes at `address`; throws Error{invalid_argument} unless all lie in one allocation. The allocation
  /// stays alive as long as the pointer.
  [[nodiscard]] std::shared_ptr<std::byte> at(std::uint64_t address, std::uint64_t bytes) const {
    const std::lock_guard lock(mutex_);
    auto found = regions_.upper_bound(address);
    if (found != regions_.begin()) {
      const Region& region = std::prev(found)->second;
      const std::uint64_t offset = address - region.begin;
      if (offset <= region.bytes && bytes <= region.bytes - offset) {
        return {region.memory, region.memory.get() + offset};
      }
    }
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} bytes at {:#x} do not lie in one allocation of the simulated device", bytes,
                            address));
  }
  /// Every allocation in the order of addresses.
  [[nodiscard]] std::vector<Region> regions() const {
    const std::lock_guard lock(mutex_);
    std::vector<Region> all;
    all.reserve(regions_.size());
    for (const auto& [begin, region] : regions_) all.push_back(region);
    return all;
  }

 private:
  mutable std::mutex mutex_;
  const ::pid_t owner_ = ::getpid();
  std::uint64_t capacity_;
  std::uint64_t used_ = 0;
  std::uint64_t next_;
  std::map<std::uint64_t, Region> regions_;
};

/// A launch's own memory, where nothing else is.
class OwnMemory {
 public:
  /// The first `zeros` bytes of it are zeros.
  OwnMemory(GlobalMemory& memory, std::uint64_t bytes, std::uint64_t zeros)
      : memory_(memory), zeros_(std::min(bytes, zeros)), address_(memory.allocate(bytes)) {
    std::memset(memory_.at(address_, zeros_).get(), 0, zeros_);
  }
  ~OwnMemory() { memory_.free(address_); }
  OwnMemory(const OwnMemory&) = delete;
  OwnMemory& operator=(const OwnMemory&) = delete;

  [[nodiscard]] std::uint64_t address() const noexcept { return address_; }
  [[nodiscard]] bool leaves_zeros() const {
    const std::shared_ptr<std::byte> first = memory_.at(address_, zeros_);
    return std::all_of(first.get(), first.get() + zeros_,
                       [](std::byte byte) { return byte == std::byte{0}; });
  }

 private:
  GlobalMemory& memory_;
  std::uint64_t zeros_;
  std::uint64_t address_;
};

/// What launches and devices share; kernels may outlive neither.
struct State {
  explicit State(const SimOptions& all)
      : options(all), memory(all.memory_bytes, range.first_address()), heap(all.heap_bytes) {}

  SimOptions options;
  DeviceRange range;
  GlobalMemory memory;
  DeviceHeap heap;
  TensorMaps maps;
  Streams streams;
  std::mutex mutex;  // one launch at a time, and what follows
  std::vector<Report> reports;
  std::vector<Report> pending;  ///< of launches since the last synchronize()
  std::set<Stream> created;     ///< streams that are not destroyed
  std::uint64_t streams_created = 0;
  std::uint64_t thread_instructions = 0;

  /// Throws Error{invalid_argument} for a stream of another device, or one that was destroyed. Null and the
  /// driver's two names of default streams are every device's.
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

  /// A mistake of the host, for the next synchronize().
  void report_host(check::RuleId rule, const std::string& found) {
    if (std::ranges::find(options.allowed, rule->id) != options.allowed.end()) return;
    Report report;
    check::describe(report, rule, found, {}, {});
    const std::lock_guard lock(mutex);
    if (options.sink) options.sink(report);
    reports.push_back(report);
    pending.push_back(std::move(report));
  }

  void run(const std::shared_ptr<const Program>& loaded, const LaunchShape& shape,
           std::span<void* const> parameters, std::uint64_t ctas_at_once, Stream stream) {
    const Program& program = *loaded;
    // Cooperative groups keep a size and the grid's barrier in it.
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
    if (!heap.begin_launch() || program.uses_heap) launch.heap = &heap;
    launch.overlapped = streams.before(stream, shape);
    sim::run(launch, threads);
    streams.add(stream, std::make_shared<const Flight>(Flight{loaded, shape, launch.cluster, launch.order,
                                                              launch.waited, launch.triggered}));
    if (launch.heap != nullptr && !launch.stopped) report_lost(launch);
    thread_instructions += launch.thread_instructions;
    std::vector<Report> found = launch.reports.take();
    const auto is_allowed = [&](const Report& each) {
      return std::ranges::find(options.allowed, each.rule) != options.allowed.end();
    };
    // Something has to say why a launch was stopped.
    if (!launch.stopped || !std::ranges::all_of(found, is_allowed)) std::erase_if(found, is_allowed);
    for (Report& report : found) {
      if (options.sink) options.sink(report);
      reports.push_back(report);
      pending.push_back(std::move(report));
    }
  }
};

class SimKernel final : public LoadedKernel {
 public:
  SimKernel(std::shared_ptr<State> state, Program program)
      : state_(std::move(state)), program_(std::make_shared<const Program>(std::move(program))) {}
  ~SimKernel() override {
    if (program_->uses_globals) state_->memory.free(program_->global_base);
  }

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
    if (shape.shared_bytes > allowed_) {
      refuse(fmt::format("{} bytes of dynamic shared memory, allowed are {} (allow_shared_bytes)",
                         shape.shared_bytes, allowed_));
    }
    if (program_->static_shared_bytes + shape.shared_bytes > max_shared_bytes) {
      refuse(fmt::format("{} bytes of shared memory, a CTA has {}",
                         program_->static_shared_bytes + shape.shared_bytes, max_shared_bytes));
    }
    if (const std::string why = why_no_cluster(shape); !why.empty()) refuse(why);
    const std::uint64_t at_once =
        std::uint64_t{ctas_per_sm(static_cast<std::uint32_t>(threads), shape.shared_bytes)} *
        state_->options.sm_count;
    if (shape.cooperative && volume(shape.grid) > at_once) {
      refuse(fmt::format("a cooperative launch of {} CTAs, of which {} are on the chip at once",
                         volume(shape.grid), at_once));
    }
    if (shape.scratch_bytes == 0) return state_->run(program_, shape, parameters, at_once, stream);
    const OwnMemory scratch(state_->memory, shape.scratch_bytes, scratch_zeros);
    std::vector<void*> all(parameters.begin(), parameters.end());
    std::uint64_t address = scratch.address();
    if (!all.empty()) all.back() = &address;
    state_->run(program_, shape, all, at_once, stream);
    if (!scratch.leaves_zeros()) refuse("it has left scratch memory that others take for zeros");
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
      throw Error(ErrorCode::device_failed,
                  fmt::format("kernel \"{}\" cannot have {} bytes of shared memory, at most {}",
                              program_->entry, bytes, max_shared_bytes));
    }
    allowed_ = std::max(allowed_, bytes);
  }

  [[nodiscard]] std::uint32_t ctas_per_sm(std::uint32_t threads, std::uint32_t shared_bytes) const override {
    const std::uint32_t by_threads = 2048 / ((std::max(threads, 1U) + 31) / 32 * 32);
    // Each CTA takes 1 KiB more than it asks for, of 228 KiB.
    const std::uint32_t by_memory = 228 * 1024 / (shared_bytes + program_->static_shared_bytes + 1024);
    return std::min({32U, by_threads, by_memory});
  }

 private:
  /// Empty if the kernel can be launched with these clusters.
  [[nodiscard]] std::string why_no_cluster(const LaunchShape& shape) const {
    const bool given = shape.cluster != LaunchShape{}.cluster;
    const auto text = [](const auto& n) { return fmt::format("{}x{}x{}", n[0], n[1], n[2]); };
    if (given && program_->cluster && *program_->cluster != shape.cluster) {
      return fmt::format("clusters of {} CTAs, its .reqnctapercluster asks for {}", text(shape.cluster),
                         text(*program_->cluster));
    }
    if (program_->explicit_cluster && !given && !program_->cluster)
      return "its .explicitcluster asks for a launch that gives the cluster's dimensions";
    const auto cluster = program_->cluster.value_or(shape.cluster);
    const std::uint64_t ctas = volume(cluster);
    if (ctas == 0 || ctas > max_cluster || cluster[0] > max_cluster || cluster[1] > max_cluster) {
      return fmt::format("clusters of {} CTAs, 1 to {} are legal on every Hopper", text(cluster),
                         max_cluster);
    }
    for (std::size_t d = 0; d < 3; ++d) {
      if (shape.grid[d] % cluster[d] != 0) {
        return fmt::format("a grid of {} CTAs in clusters of {}; a cluster's extent divides the grid's",
                           text(shape.grid), text(cluster));
      }
    }
    return {};
  }

  std::shared_ptr<State> state_;
  std::shared_ptr<const Program> program_;
  std::uint32_t allowed_ = 48 * 1024;
};

/// Counts thread-instructions, whose number depends on nothing but what runs: a million are a millisecond.
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
    std::string text = fmt::format("the simulator has {} report{} (seed {}):", reports.size(),
                                   reports.size() == 1 ? "" : "s", state_->options.seed);
    for (const Report& report : reports) {
      text += '\n';
      text += report.text();
    }
    throw Error(ErrorCode::device_failed, text);
  }

  [[nodiscard]] Stream create() override {
    const std::lock_guard lock(state_->mutex);
    // A stream is a name only: every launch runs at once.
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
    // As the driver, which a launch on new addresses asks without validate().
    if (address % (spec.interleave == Interleave::b32 ? 32 : 16) != 0)
      throw SpecError(validate(spec, address));
    return state_->maps.encode(spec, address);
  }

  [[nodiscard]] std::unique_ptr<LoadedKernel> load(const Artifact& artifact) override {
    Program program = decode(artifact.ptx, artifact.entry);
    if (program.uses_globals) {
      // Where the module's variables lie is known only now.
      const DevicePtr base = allocate(program.global_image.size());
      program = decode(artifact.ptx, artifact.entry, base);
      copy_in(base, program.global_image, nullptr);
    }
    return std::make_unique<SimKernel>(state_, std::move(program));
  }

  std::shared_ptr<State> state_;
  DeviceInfo info_;
};

}  // namespace

DevicePtr allocate_between(Device& device, std::uint64_t bytes, std::uint64_t past) {
  auto* const simulator = dynamic_cast<Simulator*>(&device);
  if (simulator == nullptr || past >= alignment) {
    throw Error(
        ErrorCode::invalid_argument,
        simulator == nullptr
            ? std::string("only a simulated device allocates between its boundaries")
            : fmt::format("an allocation {} bytes past a boundary; 0 to {} are legal", past, alignment - 1));
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
