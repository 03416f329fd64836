#include "c/counters.hpp"
#include "c/handles.hpp"

#include <tmajit/sim_module.hpp>

#include <algorithm>
#include <filesystem>
#include <string>

/// Device memory, or host memory that the simulated device maps.
struct tmajit_buffer {
  std::shared_ptr<tmajit::Device> device;
  tmajit::DevicePtr address = 0;
  std::uint64_t bytes = 0;

  ~tmajit_buffer() { device->memory().free(address); }
};

TMAJIT_BEGIN
namespace c {
namespace {

SimOptions::Mode to_mode(std::int32_t mode) {
  switch (mode) {
    case TMAJIT_LATE: return SimOptions::Mode::late;
    case TMAJIT_EARLY: return SimOptions::Mode::early;
    case TMAJIT_RANDOM: return SimOptions::Mode::random;
    default: refuse("simulation: mode is {}; legal are TMAJIT_LATE, TMAJIT_EARLY and TMAJIT_RANDOM", mode);
  }
}

template <class T>
void set_unless_zero(T& option, T value) {
  if (value != 0) option = value;
}

SimOptions to_sim_options(const tmajit_simulation* simulation) {
  const tmajit_simulation c_simulation = read_optional(simulation, "simulation");
  SimOptions options{
      .mode = to_mode(c_simulation.mode),
      .races = !flag(c_simulation.ignore_races, "simulation: ignore_races"),
      .threads = c_simulation.threads,
      .project = std::string(text(c_simulation.project)),
      .allowed = texts(c_simulation.allowed, c_simulation.allowed_count, "simulation: allowed"),
      .keep_going = flag(c_simulation.keep_going, "simulation: keep_going")};
  set_unless_zero(options.seed, c_simulation.seed);
  set_unless_zero(options.instruction_limit, c_simulation.instruction_limit);
  set_unless_zero(options.memory_bytes, c_simulation.memory_bytes);
  if (!(c_simulation.seconds_limit >= 0))
    refuse("simulation: seconds_limit is {}; 0 or more is legal", c_simulation.seconds_limit);
  options.seconds_limit = c_simulation.seconds_limit;
  if (c_simulation.print != nullptr) {
    options.print = [print = c_simulation.print, context = c_simulation.print_context](
                        std::string_view printed) { print(context, printed.data(), printed.size()); };
  }
  return options;
}

WhenMissing to_when_missing(std::int32_t when) {
  switch (when) {
    case TMAJIT_MISSING_COMPILE: return WhenMissing::compile;
    case TMAJIT_MISSING_SERVE: return WhenMissing::serve;
    case TMAJIT_MISSING_REFUSE: return WhenMissing::refuse;
    default:
      refuse(
          "options: when_missing is {}; legal are TMAJIT_MISSING_COMPILE, TMAJIT_MISSING_SERVE and "
          "TMAJIT_MISSING_REFUSE",
          when);
  }
}

template <class Duration>
void set_unless_zero(Duration& option, std::uint64_t count, std::uint64_t most, const char* member) {
  if (count > most) refuse("fleet: {} is {}; at most {} is legal", member, count, most);
  if (count != 0) option = Duration(static_cast<typename Duration::rep>(count));
}

FleetOptions to_fleet_options(const tmajit_fleet_options* fleet) {
  if (fleet == nullptr) return FleetOptions::from_environment();
  const tmajit_fleet_options c_fleet = read_optional(fleet, "fleet");
  FleetOptions options{.url = std::string(text(c_fleet.url)),
                       .user = std::string(text(c_fleet.user)),
                       .password = std::string(text(c_fleet.password)),
                       .ca_file = text(c_fleet.ca_file),
                       .certificate_file = text(c_fleet.certificate_file),
                       .key_file = text(c_fleet.key_file),
                       .secret = std::string(text(c_fleet.secret))};
  if (c_fleet.prefix != nullptr) options.prefix = c_fleet.prefix;
  constexpr std::uint64_t day_ms = 86'400'000;
  constexpr std::uint64_t century_s = 3'155'760'000;
  set_unless_zero(options.max_wait, c_fleet.max_wait_ms, day_ms, "max_wait_ms");
  set_unless_zero(options.lease, c_fleet.lease_ms, day_ms, "lease_ms");
  set_unless_zero(options.time_to_live, c_fleet.time_to_live_s, century_s, "time_to_live_s");
  set_unless_zero(options.max_entry_bytes, c_fleet.max_entry_bytes);
  return options;
}

/// Null keeps the default, "" means none.
void set_folder(std::optional<std::filesystem::path>& option, const char* folder) {
  if (folder == nullptr) return;
  option.reset();
  if (*folder != '\0') option = folder;
}

tmajit_runtime make_runtime(const tmajit_runtime_options* runtime_options) {
  const tmajit_runtime_options c_options = read_optional(runtime_options, "options");
  require_zero("options", c_options.reserved, c_options.reserved_ready);
  RuntimeOptions options;
  std::shared_ptr<SimDevice> simulator;
  switch (c_options.device) {
    case TMAJIT_DEVICE_GPU: options.device = open_gpu(c_options.gpu); break;
    case TMAJIT_DEVICE_SIMULATED:
      simulator = make_sim_device(to_sim_options(c_options.simulation));
      options.device = simulator;
      options.compile.arch = "compute_90a";
      break;
    case TMAJIT_DEVICE_NONE: break;
    default:
      refuse(
          "options: device is {}; legal are TMAJIT_DEVICE_GPU, TMAJIT_DEVICE_SIMULATED and "
          "TMAJIT_DEVICE_NONE",
          c_options.device);
  }
  set_folder(options.cache_directory, c_options.cache_directory);
  if (c_options.arch != nullptr) options.compile.arch = c_options.arch;
  options.compile.line_info = !flag(c_options.no_line_info, "options: no_line_info");
  options.compile.extra =
      texts(c_options.compiler_options, c_options.compiler_option_count, "options: compiler_options");
  if (c_options.max_cached_kernels != 0) options.max_cached_kernels = c_options.max_cached_kernels;
  options.improve.candidates = c_options.improve_candidates;
  set_unless_zero(options.improve.timed_calls, c_options.improve_timed_calls);
  if (!(c_options.improve_min_predicted_us >= 0))
    refuse("options: improve_min_predicted_us is {}; 0 or more is legal", c_options.improve_min_predicted_us);
  set_unless_zero(options.improve.min_predicted_us, c_options.improve_min_predicted_us);
  set_unless_zero(options.improve.max_calls, c_options.improve_max_calls);
  options.improve.remember = flag(c_options.improve_remember, "options: improve_remember");
  set_unless_zero(options.max_cache_bytes, c_options.max_cache_bytes);
  for (const std::string& folder :
       texts(c_options.read_only_caches, c_options.read_only_cache_count, "options: read_only_caches"))
    options.read_only_caches.emplace_back(folder);
  options.when_missing = to_when_missing(c_options.when_missing);
  options.allow_other_rounding = flag(c_options.allow_other_rounding, "options: allow_other_rounding");
  if (c_options.background_compiles < -1)
    refuse("options: background_compiles is {}; legal are -1, which means none, 0, which means 2, and more",
           c_options.background_compiles);
  set_unless_zero(options.background_compiles,
                  static_cast<std::uint32_t>(std::max(c_options.background_compiles, 0)));
  if (c_options.background_compiles == -1) options.background_compiles = 0;
  options.fleet = to_fleet_options(c_options.fleet);
  set_folder(options.statistics_directory, c_options.statistics_directory);
  set_folder(options.dump_directory, c_options.dump_directory);
  if (c_options.on_kernel != nullptr) {
    options.on_kernel = [function = c_options.on_kernel,
                         context = c_options.on_kernel_context](const KernelRecord& record) {
      const std::string key = record.key.hex();
      const tmajit_kernel_record c_record = to_c_record(record, key);
      function(context, &c_record);
    };
  }
  for (const std::string& pack : texts(c_options.packs, c_options.pack_count, "options: packs"))
    options.packs.emplace_back(pack);
  if (c_options.no_shipped_packs > 1)
    refuse("options: no_shipped_packs is {}; 0 and 1 are legal", c_options.no_shipped_packs);
  options.shipped_packs = c_options.no_shipped_packs == 0;
  if (c_options.record != nullptr) options.record = c_options.record;
  return {Runtime(std::move(options)), std::move(simulator)};
}

void fill_info(tmajit_device_info* info, const DeviceInfo& device) {
  tmajit_device_info value{};
  const std::size_t length = std::min(device.name.size(), sizeof value.name - 1);
  std::copy_n(device.name.begin(), length, value.name);
  value.ordinal = device.ordinal;
  value.major = device.compute_major;
  value.minor = device.compute_minor;
  value.sm_count = device.sm_count;
  value.bytes = device.memory_bytes;
  value.l2_bytes = device.l2_bytes;
  value.shared_bytes = device.max_shared_bytes;
  fill(info, "info", value);
}

/// The address of a part of a buffer. Throws Error{invalid_argument} for bytes beyond its end.
DevicePtr part_of(const tmajit_buffer* buffer, std::uint64_t offset, std::uint64_t bytes) {
  const tmajit_buffer& whole = require_non_null(buffer, "buffer");
  if (offset > whole.bytes || bytes > whole.bytes - offset) {
    refuse("{} from byte {} on reach beyond the end of a buffer of {}", counted(bytes, "byte"), offset,
           counted(whole.bytes, "byte"));
  }
  return whole.address + offset;
}

/// Makes a buffer that owns the device memory at `address`. Frees that memory if the buffer cannot be
/// allocated.
tmajit_buffer* own_buffer(const std::shared_ptr<Device>& device, DevicePtr address, std::uint64_t bytes) {
  try {
    return new tmajit_buffer{device, address, bytes};
  } catch (...) {
    device->memory().free(address);
    throw;
  }
}

}  // namespace
}  // namespace c
TMAJIT_END

using namespace tmajit;

tmajit_status tmajit_runtime_make(const tmajit_runtime_options* options, tmajit_runtime** runtime,
                                  tmajit_error** error) {
  return c::guarded(error, [&] {
    c::clear_result(runtime, "runtime");
    *runtime = new tmajit_runtime(c::make_runtime(options));
  });
}

void tmajit_runtime_destroy(tmajit_runtime* runtime) {
  delete runtime;
}

tmajit_status tmajit_runtime_device(const tmajit_runtime* runtime, tmajit_device_info* info,
                                    tmajit_error** error) {
  return c::guarded(error, [&] { c::fill_info(info, c::device_of(runtime).info()); });
}

size_t tmajit_gpu_count(void) {
  size_t count = 0;
  (void)c::guarded(nullptr, [&] { count = list_gpus().size(); });
  return count;
}

tmajit_status tmajit_gpu(size_t index, tmajit_device_info* info, tmajit_error** error) {
  return c::guarded(error, [&] { c::fill_info(info, c::item(list_gpus(), index, "GPU")); });
}

tmajit_status tmajit_stream_make(tmajit_runtime* runtime, void** stream, tmajit_error** error) {
  return c::guarded(error, [&] {
    c::clear_result(stream, "stream");
    *stream = c::device_of(runtime).streams().create();
  });
}

void tmajit_stream_destroy(tmajit_runtime* runtime, void* stream) {
  if (runtime == nullptr || stream == nullptr || runtime->runtime.device() == nullptr) return;
  runtime->runtime.device()->streams().destroy(c::to_stream(stream));
}

tmajit_status tmajit_synchronize(tmajit_runtime* runtime, void* stream, tmajit_error** error) {
  return c::guarded(error, [&] { c::device_of(runtime).streams().synchronize(c::to_stream(stream)); });
}

tmajit_status tmajit_buffer_make(tmajit_runtime* runtime, uint64_t bytes, tmajit_buffer** buffer,
                                 tmajit_error** error) {
  return c::guarded(error, [&] {
    c::clear_result(buffer, "buffer");
    const DevicePtr address = c::device_of(runtime).memory().allocate(bytes);
    *buffer = c::own_buffer(runtime->runtime.device(), address, bytes);
  });
}

tmajit_status tmajit_buffer_map(tmajit_runtime* runtime, void* memory, uint64_t bytes, tmajit_buffer** buffer,
                                tmajit_error** error) {
  return c::guarded(error, [&] {
    c::clear_result(buffer, "buffer");
    SimDevice& simulator = c::simulator_of(runtime);
    if (bytes == 0) refuse("no byte of host memory is mapped: bytes is 0");
    map_host_memory(simulator, {&c::require_non_null(static_cast<std::byte*>(memory), "memory"), bytes});
    *buffer = c::own_buffer(runtime->runtime.device(), reinterpret_cast<std::uintptr_t>(memory), bytes);
  });
}

void tmajit_buffer_destroy(tmajit_buffer* buffer) {
  delete buffer;
}

uint64_t tmajit_buffer_address(const tmajit_buffer* buffer) {
  return buffer == nullptr ? 0 : buffer->address;
}

uint64_t tmajit_buffer_bytes(const tmajit_buffer* buffer) {
  return buffer == nullptr ? 0 : buffer->bytes;
}

tmajit_status tmajit_buffer_write(tmajit_buffer* buffer, uint64_t offset, const void* memory, uint64_t bytes,
                                  void* stream, tmajit_error** error) {
  return c::guarded(error, [&] {
    const DevicePtr to = c::part_of(buffer, offset, bytes);
    const auto from = c::array(static_cast<const std::byte*>(memory), bytes, "memory");
    buffer->device->memory().copy_in(to, from, c::to_stream(stream));
  });
}

tmajit_status tmajit_buffer_read(const tmajit_buffer* buffer, uint64_t offset, void* memory, uint64_t bytes,
                                 void* stream, tmajit_error** error) {
  return c::guarded(error, [&] {
    const DevicePtr from = c::part_of(buffer, offset, bytes);
    (void)c::array(static_cast<const std::byte*>(memory), bytes, "memory");
    const std::span<std::byte> to(static_cast<std::byte*>(memory), bytes);
    buffer->device->memory().copy_out(to, from, c::to_stream(stream));
  });
}

tmajit_status tmajit_buffer_fill(tmajit_buffer* buffer, uint64_t offset, uint8_t value, uint64_t bytes,
                                 void* stream, tmajit_error** error) {
  return c::guarded(error, [&] {
    const DevicePtr to = c::part_of(buffer, offset, bytes);
    buffer->device->memory().fill(to, std::byte{value}, bytes, c::to_stream(stream));
  });
}
