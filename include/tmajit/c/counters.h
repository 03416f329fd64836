#ifndef TMAJIT_C_COUNTERS_H
#define TMAJIT_C_COUNTERS_H

/// Where the kernels of a runtime came from, and how long they took (docs/observe.md).
#include <tmajit/c/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Numbers of a runtime since it was made.
typedef struct tmajit_counters {
  size_t size;             ///< sizeof(tmajit_counters)
  uint64_t memory_hits;    ///< requests that found the kernel in memory; launches of plans make no requests
  uint64_t pack_hits;      ///< in a pack
  uint64_t disk_hits;      ///< in a folder
  uint64_t fleet_hits;     ///< in the fleet's store
  uint64_t compiles;       ///< requests that compiled the kernel
  uint64_t failures;       ///< requests that failed
  double generate_ms;      ///< sums of the stages' times
  double key_ms;           ///< includes loading NVRTC
  double fetch_ms;         ///< includes waiting for another process that compiles the kernel
  double compile_ms;       ///< NVRTC
  double store_ms;         ///< in the levels of the cache
  double load_ms;          ///< onto the device
  uint64_t bytes_read;     ///< of kernels found in packs, folders and stores
  uint64_t bytes_written;  ///< of compiled kernels that a level keeps
  uint64_t bytes_loaded;   ///< of code that the device has loaded
  uint64_t served;  ///< kernels that were served in place of one that was not there (TMAJIT_MISSING_SERVE)
  uint64_t waited;  ///< kernels that a caller waited for, because no other one could be served
  uint64_t swaps;   ///< replacements of all served kernels of an operation by the planned ones
  double swap_ms;   ///< time of the swaps in background threads
} tmajit_counters;
TMAJIT_C_API tmajit_status tmajit_runtime_counters(const tmajit_runtime* runtime, tmajit_counters* counters,
                                                   tmajit_error** error);

/// The last kernels that a runtime has made, at most 256, the oldest first.
typedef struct tmajit_history tmajit_history;
TMAJIT_C_API tmajit_status tmajit_runtime_history(const tmajit_runtime* runtime, tmajit_history** history,
                                                  tmajit_error** error);
TMAJIT_C_API void tmajit_history_destroy(tmajit_history* history);
/// The number of kernels; 0 for null.
TMAJIT_C_API size_t tmajit_history_count(const tmajit_history* history);
/// One of them. Its texts live as long as the history.
TMAJIT_C_API tmajit_status tmajit_history_kernel(const tmajit_history* history, size_t index,
                                                 tmajit_kernel_record* record, tmajit_error** error);

#ifdef __cplusplus
}
#endif
#endif
