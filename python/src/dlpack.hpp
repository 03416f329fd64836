#pragma once

// The structs of DLPack 1.3, with the names and layouts of its specification.
#include <cstdint>

namespace dlpack {

enum DeviceType : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };
enum TypeCode : std::uint8_t {
  signed_integer = 0,
  unsigned_integer = 1,
  floating = 2,
  brain_floating = 4,
  complex_number = 5,
  boolean = 6,
  e4m3fn = 10,
  e5m2 = 12,
};

struct DLPackVersion {
  std::uint32_t major;
  std::uint32_t minor;
};

struct DLDevice {
  std::int32_t device_type;
  std::int32_t device_id;
  friend bool operator==(const DLDevice&, const DLDevice&) = default;
};

struct DLDataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
  friend bool operator==(const DLDataType&, const DLDataType&) = default;
};

struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null: dense and row-major
  std::uint64_t byte_offset;
};

/// The content of a capsule "dltensor".
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor*);
};

/// The content of a capsule "dltensor_versioned".
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned*);
  std::uint64_t flags;
  DLTensor dl_tensor;
};
inline constexpr std::uint64_t read_only_flag = 1;

/// The content of a capsule "dlpack_exchange_api", the attribute `__dlpack_c_exchange_api__` of a tensor's
/// type. Functions return 0, or -1 with a Python exception set.
struct DLPackExchangeAPI {
  DLPackVersion version;
  const DLPackExchangeAPI* prev_api;
  /// Makes an uninitialised tensor with the shape, type and device of `prototype`. Reports a failure by
  /// `set_error`.
  int (*managed_tensor_allocator)(DLTensor* prototype, DLManagedTensorVersioned** out, void* error_context,
                                  void (*set_error)(void* error_context, const char* kind,
                                                    const char* message));
  int (*managed_tensor_from_py_object_no_sync)(void* object, DLManagedTensorVersioned** out);
  /// Takes ownership of the tensor.
  int (*managed_tensor_to_py_object_no_sync)(DLManagedTensorVersioned* tensor, void** out);
  /// Null if the library does not provide it. `out` refers to the object's own memory.
  int (*dltensor_from_py_object_no_sync)(void* object, DLTensor* out);
  int (*current_work_stream)(std::int32_t device_type, std::int32_t device_id, void** out);
};

}  // namespace dlpack
