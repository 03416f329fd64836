#include "c/counters.hpp"

#include "c/handles.hpp"

#include <tmajit/c/counters.h>

#include <chrono>

struct tmajit_history {
  std::vector<tmajit::KernelRecord> records;
  std::vector<std::string> keys;
};

using namespace tmajit;

static_assert(static_cast<int>(CacheLevel::memory) == TMAJIT_LEVEL_MEMORY &&
              static_cast<int>(CacheLevel::pack) == TMAJIT_LEVEL_PACK &&
              static_cast<int>(CacheLevel::disk) == TMAJIT_LEVEL_DISK &&
              static_cast<int>(CacheLevel::fleet) == TMAJIT_LEVEL_FLEET &&
              static_cast<int>(CacheLevel::compiled) == TMAJIT_LEVEL_COMPILED);

static_assert(static_cast<int>(MadeBy::caller) == TMAJIT_MADE_BY_CALLER &&
              static_cast<int>(MadeBy::swap) == TMAJIT_MADE_BY_SWAP &&
              static_cast<int>(MadeBy::trial) == TMAJIT_MADE_BY_TRIAL &&
              static_cast<int>(MadeBy::prefetch) == TMAJIT_MADE_BY_PREFETCH);

TMAJIT_BEGIN
namespace c {

tmajit_kernel_record to_c_record(const KernelRecord& record, const std::string& key) {
  tmajit_kernel_record value{};
  value.size = sizeof value;
  value.key = key.c_str();
  value.entry = record.entry.c_str();
  value.operation = record.made_for.operation.c_str();
  value.types = record.made_for.types.c_str();
  value.shape = record.made_for.shape.c_str();
  value.level = static_cast<std::int32_t>(record.level);
  value.made_by = static_cast<std::int32_t>(record.made_by);
  value.fetch_ms = record.times.fetch;
  value.compile_ms = record.times.compile;
  value.load_ms = record.times.load;
  value.bytes = record.bytes;
  value.unix_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(record.when.time_since_epoch()).count();
  return value;
}

}  // namespace c
TMAJIT_END

tmajit_status tmajit_runtime_counters(const tmajit_runtime* runtime, tmajit_counters* counters,
                                      tmajit_error** error) {
  return c::guarded(error, [&] {
    const Counters numbers = tmajit::counters(c::require_non_null(runtime, "runtime").runtime);
    tmajit_counters value{};
    value.memory_hits = numbers.of(CacheLevel::memory);
    value.pack_hits = numbers.of(CacheLevel::pack);
    value.disk_hits = numbers.of(CacheLevel::disk);
    value.fleet_hits = numbers.of(CacheLevel::fleet);
    value.compiles = numbers.of(CacheLevel::compiled);
    value.failures = numbers.failures;
    value.generate_ms = numbers.times.generate;
    value.key_ms = numbers.times.key;
    value.fetch_ms = numbers.times.fetch;
    value.compile_ms = numbers.times.compile;
    value.store_ms = numbers.times.store;
    value.load_ms = numbers.times.load;
    value.bytes_read = numbers.bytes_read;
    value.bytes_written = numbers.bytes_written;
    value.bytes_loaded = numbers.bytes_loaded;
    value.served = numbers.served;
    value.waited = numbers.waited;
    value.swaps = numbers.swaps;
    value.swap_ms = numbers.swap_ms;
    c::fill(counters, "counters", value);
  });
}

tmajit_status tmajit_runtime_history(const tmajit_runtime* runtime, tmajit_history** history,
                                     tmajit_error** error) {
  return c::guarded(error, [&] {
    c::clear_result(history, "history");
    auto made = std::make_unique<tmajit_history>();
    made->records = tmajit::history(c::require_non_null(runtime, "runtime").runtime);
    for (const KernelRecord& record : made->records) made->keys.push_back(record.key.hex());
    *history = made.release();
  });
}

void tmajit_history_destroy(tmajit_history* history) {
  delete history;
}

size_t tmajit_history_count(const tmajit_history* history) {
  return history == nullptr ? 0 : history->records.size();
}

tmajit_status tmajit_history_kernel(const tmajit_history* history, size_t index, tmajit_kernel_record* record,
                                    tmajit_error** error) {
  return c::guarded(error, [&] {
    const tmajit_history& kernels = c::require_non_null(history, "history");
    const KernelRecord& found = c::item(kernels.records, index, "kernel");
    c::fill(record, "record", c::to_c_record(found, kernels.keys[index]));
  });
}
