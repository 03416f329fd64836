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
