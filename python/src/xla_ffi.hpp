#pragma once

#include <cstddef>
#include <cstdint>

/// The part of the C interface of XLA's FFI that a handler needs (xla/ffi/api/c_api.h). This part is the same
/// in versions 0.1 to 0.4. tests/python/test_jax.py compares it with the header of the installed jaxlib.
namespace tmajit::python::xla {

constexpr int api_major = 0;
constexpr int api_minor = 4;

enum DataType : std::int32_t {
  pred = 1,
  s8 = 2,
  s16 = 3,
  s32 = 4,
  s64 = 5,
  u8 = 6,
  u16 = 7,
  u32 = 8,
  u64 = 9,
  f16 = 10,
  f32 = 11,
  f64 = 12,
  c64 = 15,
  bf16 = 16,
  f8e5m2 = 19,
  f8e4m3fn = 20,
};

enum ErrorCode : std::int32_t { invalid_argument = 3, internal = 13 };

enum AttributeType : std::int32_t { string = 4 };

enum ExtensionType : std::int32_t { metadata_extension = 1 };

struct Error;
struct Context;

struct Extension {
  std::size_t struct_size;
  ExtensionType type;
  Extension* next;
};

struct ApiVersion {
  std::size_t struct_size;
  Extension* extension;
  int major;
  int minor;
};

struct ErrorCreate {
  std::size_t struct_size;
  Extension* extension;
  const char* message;
  ErrorCode code;
};

struct ErrorDestroy {
  std::size_t struct_size;
  Extension* extension;
  Error* error;
};

struct StreamGet {
  std::size_t struct_size;
  Extension* extension;
  Context* context;
  void* stream;
};

struct DeviceOrdinalGet {
  std::size_t struct_size;
  Extension* extension;
  Context* context;
  std::int32_t ordinal;
};

struct Buffer {
  std::size_t struct_size;
  Extension* extension;
  DataType type;
  void* data;
  std::int64_t rank;
  std::int64_t* shape;
};

struct Text {
  const char* bytes;
  std::size_t size;
};

struct Buffers {
  std::size_t struct_size;
  Extension* extension;
  std::int64_t size;
  std::int32_t* types;
  Buffer** buffers;
};

struct Attributes {
  std::size_t struct_size;
  Extension* extension;
  std::int64_t size;
  AttributeType* types;
  Text** names;
  void** values;
};

struct Metadata {
  std::size_t struct_size;
  ApiVersion version;
  std::uint32_t traits;
  std::int64_t state_type;  ///< since version 0.3
};

struct MetadataExtension {
  Extension base;
  Metadata* metadata;
};

struct Api {
  std::size_t struct_size;
  Extension* extension;
  ApiVersion version;
  const void* internal;
  Error* (*error_create)(ErrorCreate*);
  void* error_message;
  void (*error_destroy)(ErrorDestroy*);
  void* handler_register;
  Error* (*stream_get)(StreamGet*);
  void* unused[12];
  Error* (*device_ordinal_get)(DeviceOrdinalGet*);
};

struct CallFrame {
  std::size_t struct_size;
  Extension* extension;
  const Api* api;
  Context* context;
  std::int32_t stage;
  Buffers sources;
  Buffers results;
  Attributes attributes;
};

}  // namespace tmajit::python::xla
