#ifndef TMAJIT_C_RUNTIME_H
#define TMAJIT_C_RUNTIME_H

/// Runtimes, and the streams and memory of their devices.
#include <tmajit/c/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The device that runs a runtime's kernels.
enum {
  TMAJIT_DEVICE_GPU = 0,        ///< a Hopper GPU, through CUDA's driver
  TMAJIT_DEVICE_SIMULATED = 1,  ///< a simulated Hopper, which reports mistakes of kernels
  TMAJIT_DEVICE_NONE = 2        ///< no device: plans and kernels are made, launches fail
};

/// When the simulated device completes asynchronous copies.
enum {
  TMAJIT_LATE = 0,   ///< as late as the PTX ISA allows, which shows most mistakes
  TMAJIT_EARLY = 1,  ///< at once
  TMAJIT_RANDOM = 2  ///< at moments drawn from the seed
};

/// Options of the simulated device. A member that is 0 has its default.
typedef struct tmajit_simulation {
  size_t size;                 ///< sizeof(tmajit_simulation)
  int32_t mode;                ///< TMAJIT_LATE …
  uint32_t ignore_races;       ///< 1: data races are not detected
  uint32_t keep_going;         ///< 1: a launch continues after a report, if possible
  uint32_t threads;            ///< host threads that run CTAs; 0: one for each core
  uint64_t seed;               ///< 0: 1
  uint64_t instruction_limit;  ///< the most warp instructions of a CTA; 0: 500 million
  double seconds_limit;        ///< the most seconds of a launch; 0: no limit
  uint64_t memory_bytes;       ///< global memory; 0: 16 GiB
  const char* project;         ///< root folder of your sources, to which findings refer; or null
  const char* const* allowed;  ///< ids of rules that are not reported
  size_t allowed_count;
  /// Called with each text that a kernel prints, or null. Any thread may call it, but calls do not overlap.
  /// It must not call the runtime.
  void (*print)(void* context, const char* text, size_t bytes);
  void* print_context;
} tmajit_simulation;

/// Whether a runtime calls the compiler for kernels that no level of its cache has (docs/ready.md).
enum {
  TMAJIT_MISSING_COMPILE = 0,  ///< the caller waits for the compiler
  /// A kernel that is there and can do the work runs, and the better one is made in the background. Without
  /// one the caller waits for the compiler.
  TMAJIT_MISSING_SERVE = 1,
  TMAJIT_MISSING_REFUSE = 2  ///< the call returns TMAJIT_MISSING_KERNEL
};

/// The store of kernels that the machines of a fleet share (FleetOptions, fleet.hpp). A member that is 0 has
/// its default.
typedef struct tmajit_fleet_options {
  size_t size;           ///< sizeof(tmajit_fleet_options)
  const char* url;       ///< "redis://host:6379/0", "rediss://…", "redis+unix:///path", "file:///path"
  const char* user;      ///< replaces that of the URL
  const char* password;  ///< replaces that of the URL
  const char* ca_file;   ///< authorities for TLS, PEM; null: the system's
  const char* certificate_file;  ///< the client's certificate for TLS, PEM; or null
  const char* key_file;          ///< its key
  const char* secret;            ///< signs entries; null: they are not signed
  const char* prefix;            ///< begins the names of Redis's keys; null: "tmajit"
  uint64_t max_wait_ms;          ///< the longest time of one request to Redis; 0: 50
  uint64_t lease_ms;             ///< time after which another machine makes a kernel; 0: 30,000
  uint64_t time_to_live_s;       ///< time after which Redis removes an entry; 0: none
  uint64_t max_entry_bytes;      ///< larger entries are neither read nor kept; 0: 64 MiB
} tmajit_fleet_options;

/// Where a kernel came from.
enum {
  TMAJIT_LEVEL_MEMORY = 0,   ///< the runtime's memory
  TMAJIT_LEVEL_PACK = 1,     ///< a file of kernels made beforehand
  TMAJIT_LEVEL_DISK = 2,     ///< a folder
  TMAJIT_LEVEL_FLEET = 3,    ///< the store that machines share
  TMAJIT_LEVEL_COMPILED = 4  ///< no level had it
};

/// The thread that made a kernel, and for what.
enum {
  TMAJIT_MADE_BY_CALLER = 0,   ///< a thread that called the runtime
  TMAJIT_MADE_BY_SWAP = 1,     ///< a background thread: the kernel replaces a served one
  TMAJIT_MADE_BY_TRIAL = 2,    ///< a background thread: a trial compares the kernel
  TMAJIT_MADE_BY_PREFETCH = 3  ///< a background thread: tmajit_prefetch_make()
};

/// A kernel that a runtime has made.
typedef struct tmajit_kernel_record {
  size_t size;            ///< sizeof(tmajit_kernel_record)
  const char* key;        ///< 64 hexadecimal digits
  const char* entry;      ///< the kernel's name in PTX and cubin
  const char* operation;  ///< the operation that it was made for; "" for a kernel of the program's own
  const char* types;      ///< the destination's and the sources': "f32 <- bf16"
  const char* shape;      ///< "1024x512"
  int32_t level;          ///< TMAJIT_LEVEL_PACK …
  int32_t made_by;        ///< TMAJIT_MADE_BY_CALLER …
  double fetch_ms;        ///< the time of this kernel's stages, as in tmajit_counters
  double compile_ms;      ///< NVRTC
  double load_ms;         ///< onto the device
  uint64_t bytes;         ///< of its source, PTX, cubin and log
  int64_t unix_ms;        ///< when it was made, in milliseconds since 1970
} tmajit_kernel_record;

typedef struct tmajit_runtime_options {
  size_t size;     ///< sizeof(tmajit_runtime_options)
  int32_t device;  ///< TMAJIT_DEVICE_GPU …
  int32_t gpu;     ///< the driver's ordinal of the GPU
  /// Folder of compiled kernels. Null: the default folder; "": memory only.
  const char* cache_directory;
  const char* arch;  ///< null: "sm_90a", or "compute_90a" for the simulated device, which runs PTX
  const char* const* compiler_options;  ///< further options of NVRTC, in order
  size_t compiler_option_count;
  uint64_t max_cached_kernels;          ///< kernels that the runtime caches in memory; 0: 1024
  uint32_t no_line_info;                ///< 1: compiles kernels without line information
  uint32_t improve_candidates;          ///< kernels that the first calls try (Improve, runtime.hpp); 0: none
  uint32_t improve_timed_calls;         ///< times that the runtime measures each; 0: 3
  uint32_t reserved;                    ///< 0
  double improve_min_predicted_us;      ///< moves predicted to take fewer microseconds are not tried; 0: 20
  const tmajit_simulation* simulation;  ///< for TMAJIT_DEVICE_SIMULATED; null: the defaults
  uint32_t improve_max_calls;           ///< the most calls of a shape that try kernels; 0: 20
  uint32_t improve_remember;            ///< 1: keeps the results in the cache folder

  /// Bound of the bytes in cache_directory; 0: $TMAJIT_CACHE_BYTES, else 4 GiB; UINT64_MAX: no bound.
  uint64_t max_cache_bytes;
  const char* const* read_only_caches;  ///< further folders of kernels, which are never changed
  size_t read_only_cache_count;
  int32_t when_missing;               ///< TMAJIT_MISSING_COMPILE …
  uint32_t allow_other_rounding;      ///< 1: serves also kernels that round sums and products differently
  int32_t background_compiles;        ///< the most threads that make kernels; 0: 2; -1: none
  uint32_t reserved_ready;            ///< 0
  const tmajit_fleet_options* fleet;  ///< null: $TMAJIT_FLEET; without a URL: none
  /// Folder in which `jitc top` finds the counters. Null: $TMAJIT_STATS_DIR; "": none.
  const char* statistics_directory;
  /// Folder that keeps source, PTX, cubin, SASS and plan of every kernel. Null: $TMAJIT_DUMP_DIR; "": none.
  const char* dump_directory;
  /// Called after each kernel that the runtime makes, by the thread that made it, or null. It must not ask
  /// for the same kernel. The record and its texts live until it returns.
  void (*on_kernel)(void* context, const tmajit_kernel_record* record);
  void* on_kernel_context;

  const char* const* packs;  ///< packs that are searched before the shipped ones: files, or folders
  size_t pack_count;
  /// Manifest to which a line is appended for each kernel that is compiled. Null: $TMAJIT_RECORD; "": none.
  const char* record;
  uint64_t no_shipped_packs;  ///< 1: does not search the packs that come with the library
} tmajit_runtime_options;

/// Ties generator, compiler, cache and device together. Thread-safe, as every object of this interface is
/// unless its declaration says something else. Objects made by a runtime may outlive its handle.
typedef struct tmajit_runtime tmajit_runtime;
/// Makes a runtime; on GPU 0 if `options` is null. TMAJIT_UNAVAILABLE without a Hopper GPU of that ordinal.
TMAJIT_C_API tmajit_status tmajit_runtime_make(const tmajit_runtime_options* options,
                                               tmajit_runtime** runtime, tmajit_error** error);
TMAJIT_C_API void tmajit_runtime_destroy(tmajit_runtime* runtime);

typedef struct tmajit_device_info {
  size_t size;            ///< sizeof(tmajit_device_info)
  char name[128];         ///< "NVIDIA H200"
  int32_t ordinal;        ///< the driver's ordinal; -1 for the simulated device
  int32_t major;          ///< compute capability
  int32_t minor;          ///< compute capability
  uint32_t sm_count;      ///< streaming multiprocessors
  uint64_t bytes;         ///< global memory
  uint64_t l2_bytes;      ///< L2 cache
  uint32_t shared_bytes;  ///< the most shared memory of a CTA
  uint32_t reserved;      ///< 0
} tmajit_device_info;
/// Fills `*info`, whose size the caller has set. TMAJIT_UNAVAILABLE for a runtime without a device.
TMAJIT_C_API tmajit_status tmajit_runtime_device(const tmajit_runtime* runtime, tmajit_device_info* info,
                                                 tmajit_error** error);
/// The number of GPUs that the driver shows, Hopper or not; 0 without a driver.
TMAJIT_C_API size_t tmajit_gpu_count(void);
/// GPU number `index` of tmajit_gpu_count().
TMAJIT_C_API tmajit_status tmajit_gpu(size_t index, tmajit_device_info* info, tmajit_error** error);

// A stream is a CUstream or a cudaStream_t as void*; null is the default stream.

/// Makes a stream that does not synchronize with the default stream. tmajit_stream_destroy() destroys it.
TMAJIT_C_API tmajit_status tmajit_stream_make(tmajit_runtime* runtime, void** stream, tmajit_error** error);
/// Destroys a stream. Work already enqueued on it still completes.
TMAJIT_C_API void tmajit_stream_destroy(tmajit_runtime* runtime, void* stream);
/// Waits for the work on a stream. TMAJIT_DEVICE_FAILED if a kernel faulted, or if the simulated device has
/// reported mistakes since the last wait. The error's message then contains all these reports.
TMAJIT_C_API tmajit_status tmajit_synchronize(tmajit_runtime* runtime, void* stream, tmajit_error** error);

/// Device memory. Destroy a buffer after all work that uses it has ended.
typedef struct tmajit_buffer tmajit_buffer;
TMAJIT_C_API tmajit_status tmajit_buffer_make(tmajit_runtime* runtime, uint64_t bytes, tmajit_buffer** buffer,
                                              tmajit_error** error);
/// Maps host memory on the simulated device, at the same address, while the buffer lives. The caller owns the
/// memory. TMAJIT_UNSUPPORTED for a GPU.
TMAJIT_C_API tmajit_status tmajit_buffer_map(tmajit_runtime* runtime, void* memory, uint64_t bytes,
                                             tmajit_buffer** buffer, tmajit_error** error);
TMAJIT_C_API void tmajit_buffer_destroy(tmajit_buffer* buffer);
/// Its CUdeviceptr; 0 for null.
TMAJIT_C_API uint64_t tmajit_buffer_address(const tmajit_buffer* buffer);
/// Its size; 0 for null.
TMAJIT_C_API uint64_t tmajit_buffer_bytes(const tmajit_buffer* buffer);
/// Enqueues a copy of `bytes` bytes of host memory to byte `offset` of the buffer. The host memory must stay
/// valid and unchanged until the stream is synchronized.
TMAJIT_C_API tmajit_status tmajit_buffer_write(tmajit_buffer* buffer, uint64_t offset, const void* memory,
                                               uint64_t bytes, void* stream, tmajit_error** error);
/// Enqueues a copy of `bytes` bytes from byte `offset` of the buffer to host memory. It is complete once the
/// stream is synchronized.
TMAJIT_C_API tmajit_status tmajit_buffer_read(const tmajit_buffer* buffer, uint64_t offset, void* memory,
                                              uint64_t bytes, void* stream, tmajit_error** error);
/// Enqueues a fill: sets `bytes` bytes, from byte `offset` on, to `value`.
TMAJIT_C_API tmajit_status tmajit_buffer_fill(tmajit_buffer* buffer, uint64_t offset, uint8_t value,
                                              uint64_t bytes, void* stream, tmajit_error** error);

#ifdef __cplusplus
}
#endif
#endif
