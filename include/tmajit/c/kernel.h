#ifndef TMAJIT_C_KERNEL_H
#define TMAJIT_C_KERNEL_H

/// Kernels of your own: their text, tensor maps and launches (docs/own_kernels.md).
#include <tmajit/c/runtime.h>
#include <tmajit/c/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A name and a text: a constant with its C++ literal ("stages", "4"), or a header with its content.
typedef struct tmajit_named_text {
  const char* name;
  const char* text;
} tmajit_named_text;

/// A kernel in CUDA C++. The call reads everything and keeps no pointer.
typedef struct tmajit_kernel_source {
  size_t size;        ///< sizeof(tmajit_kernel_source)
  const char* text;   ///< CUDA C++
  const char* file;   ///< the text's name in errors and findings; null: "kernel.cu"
  const char* entry;  ///< the kernel's name, or an expression that names it; null: the only kernel
  /// Constants that the text can use; the literal's spelling gives the type: "true", "4", "4u", "0.5f".
  const tmajit_named_text* constants;
  size_t constant_count;
  const tmajit_named_text* headers;  ///< further files, by the name that an #include gives
  size_t header_count;
  const char* const* include_folders;  ///< further folders of headers
  size_t include_folder_count;
  uint32_t shared_bytes;  ///< upper bound of the launches' dynamic shared memory
  uint32_t reserved;      ///< 0
} tmajit_kernel_source;

/// A compiled kernel. It may outlive the handle of its runtime.
typedef struct tmajit_kernel tmajit_kernel;
/// Takes the kernel from the cache in memory or on disk, or compiles it. TMAJIT_COMPILE_FAILED if NVRTC
/// rejects the source.
TMAJIT_C_API tmajit_status tmajit_kernel_make(tmajit_runtime* runtime, const tmajit_kernel_source* source,
                                              tmajit_kernel** kernel, tmajit_error** error);
/// Loads a kernel from PTX, of any compiler, onto the simulated device. `entry` is any part of the kernel's
/// name; it may be null if the PTX has one kernel. TMAJIT_UNSUPPORTED for a GPU.
TMAJIT_C_API tmajit_status tmajit_kernel_load_ptx(tmajit_runtime* runtime, const char* ptx, size_t ptx_bytes,
                                                  const char* entry, uint32_t shared_bytes,
                                                  tmajit_kernel** kernel, tmajit_error** error);
TMAJIT_C_API void tmajit_kernel_destroy(tmajit_kernel* kernel);

/// Its name in PTX and cubin. Lives as long as the kernel; "" for null.
TMAJIT_C_API const char* tmajit_kernel_entry(const tmajit_kernel* kernel);
/// The parts of a kernel that tmajit_kernel_text() gives.
enum {
  TMAJIT_KERNEL_SOURCE = 0,  ///< CUDA C++
  TMAJIT_KERNEL_PTX = 1,     ///< PTX
  TMAJIT_KERNEL_CUBIN = 2,   ///< machine code as bytes; none if it was compiled for "compute_90a"
  TMAJIT_KERNEL_LOG = 3,     ///< warnings of NVRTC, and the report of ptxas
  TMAJIT_KERNEL_SASS = 4     ///< machine code as text; needs nvdisasm
};
/// One part as a new text; `part` is TMAJIT_KERNEL_SOURCE …
TMAJIT_C_API tmajit_status tmajit_kernel_text(const tmajit_kernel* kernel, int32_t part, tmajit_text** text,
                                              tmajit_error** error);
/// Resources as ptxas reports them; zeros if ptxas did not run.
typedef struct tmajit_resources {
  size_t size;                   ///< sizeof(tmajit_resources)
  uint32_t registers;            ///< per thread
  uint32_t spill_store_bytes;    ///< per thread
  uint32_t spill_load_bytes;     ///< per thread
  uint32_t stack_bytes;          ///< per thread
  uint32_t static_shared_bytes;  ///< per CTA
  uint32_t barriers;             ///< per CTA
} tmajit_resources;
/// Fills `*resources`, whose size the caller has set.
TMAJIT_C_API tmajit_status tmajit_kernel_resources(const tmajit_kernel* kernel, tmajit_resources* resources,
                                                   tmajit_error** error);

/// A tensor map, through which TMA copies tiles of a tensor. Type, shape and strides are the tensor's. A null
/// text stands for the first value listed.
typedef struct tmajit_tensor_map {
  size_t size;                  ///< sizeof(tmajit_tensor_map)
  uint32_t box[5];              ///< elements of a tile, outermost first; zeros for an im2col map
  uint32_t element_strides[5];  ///< 1 to 8; zeros: all 1
  const char* swizzle;          ///< "none", "32B", "64B", "128B"
  const char* interleave;       ///< "none", "16B", "32B"
  const char* l2_promotion;     ///< "none", "64B", "128B", "256B"
  const char* oob_fill;         ///< "zero", "nan"
  uint32_t im2col;              ///< 1: an im2col map, which the next members describe
  uint32_t channels;            ///< channels that a copy moves of each pixel, 1 to 256
  uint32_t pixels;              ///< pixels that a copy moves, 1 to 1024
  int32_t lower[3];   ///< first corner of the bounding box, outermost first (PixelBox, tensor_map_spec.hpp)
  int32_t upper[3];   ///< last corner of the bounding box, relative to the image's last pixel
  uint32_t reserved;  ///< 0
} tmajit_tensor_map;

/// The kind of a kernel's argument.
enum {
  TMAJIT_ARGUMENT_ADDRESS = 1,  ///< an address in a tensor's memory
  TMAJIT_ARGUMENT_MAP = 2,      ///< a tensor map over a tensor's memory
  TMAJIT_ARGUMENT_VALUE = 3     ///< bytes: a number, or a struct by value
};
/// An address inside a struct by value.
typedef struct tmajit_value_address {
  uint32_t at;      ///< offset in the value: bytes, a multiple of 8
  uint32_t tensor;  ///< number of the launch's tensor
  int64_t offset;   ///< bytes from the tensor's address
} tmajit_value_address;
/// A tensor map inside a struct by value.
typedef struct tmajit_value_map {
  uint32_t at;      ///< offset in the value: bytes, a multiple of 64
  uint32_t tensor;  ///< number of the launch's tensor
  int64_t offset;   ///< bytes from the tensor's address
  const tmajit_tensor_map* map;
} tmajit_value_map;
/// One argument of a kernel. All elements of an array of arguments have the same `size`.
typedef struct tmajit_argument {
  size_t size;                   ///< sizeof(tmajit_argument)
  int32_t kind;                  ///< TMAJIT_ARGUMENT_ADDRESS …
  uint32_t tensor;               ///< number of the launch's tensor, for an address or a map
  int64_t offset;                ///< bytes from that tensor's address
  const tmajit_tensor_map* map;  ///< the tensor map, for a map
  const void* value;             ///< the bytes of a value
  size_t value_bytes;
  uint32_t alignment;  ///< of the value, a power of two up to 128; 0: chosen by its size and maps
  uint32_t reserved;   ///< 0
  const tmajit_value_address* addresses;  ///< addresses that the launch writes into the value
  size_t address_count;
  const tmajit_value_map* maps;  ///< tensor maps that the launch writes into the value
  size_t map_count;
} tmajit_argument;

/// A launch: its shape, tensors, and one argument for each of the kernel's parameters.
typedef struct tmajit_launch {
  size_t size;            ///< sizeof(tmajit_launch)
  uint32_t grid[3];       ///< CTAs, x first; 0 counts as 1
  uint32_t block[3];      ///< threads of a CTA, x first; 0 counts as 1
  uint32_t cluster[3];    ///< CTAs of a cluster, x first; 0 counts as 1
  uint32_t shared_bytes;  ///< dynamic shared memory of a CTA
  uint32_t cooperative;   ///< 1: all CTAs are resident at once
  uint32_t overlaps;      ///< 1: the kernel may begin before the previous one on the stream has ended
  const tmajit_tensor* tensors;
  size_t tensor_count;
  const tmajit_argument* arguments;
  size_t argument_count;
} tmajit_launch;
/// Enqueues one launch. TMAJIT_ILLEGAL_SPEC with every rule that its tensor maps break,
/// TMAJIT_INVALID_ARGUMENT if arguments and parameters differ in number or in bytes.
TMAJIT_C_API tmajit_status tmajit_kernel_launch(const tmajit_kernel* kernel, const tmajit_launch* launch,
                                                void* stream, tmajit_error** error);

/// A launch whose arguments are checked and whose tensor maps are encoded.
typedef struct tmajit_prepared tmajit_prepared;
/// TMAJIT_UNSUPPORTED for a kernel of tmajit_kernel_load_ptx().
TMAJIT_C_API tmajit_status tmajit_kernel_prepare(const tmajit_kernel* kernel, const tmajit_launch* launch,
                                                 tmajit_prepared** prepared, tmajit_error** error);
TMAJIT_C_API void tmajit_prepared_destroy(tmajit_prepared* prepared);
/// Enqueues the launch. May be called any number of times, and while the stream is captured.
TMAJIT_C_API tmajit_status tmajit_prepared_launch(const tmajit_prepared* prepared, void* stream,
                                                  tmajit_error** error);
/// Replaces the addresses of the launch's tensors. The new ones must have the same alignment. While a thread
/// rebinds, no other thread may use `prepared`.
TMAJIT_C_API tmajit_status tmajit_prepared_rebind(tmajit_prepared* prepared, const uint64_t* addresses,
                                                  size_t address_count, tmajit_error** error);

#ifdef __cplusplus
}
#endif
#endif
