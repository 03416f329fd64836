#ifndef TMAJIT_C_STATUS_H
#define TMAJIT_C_STATUS_H

/// Status codes, errors and texts of the C interface.
#include <stddef.h>
#include <stdint.h>

#define TMAJIT_C_API __attribute__((visibility("default")))
#ifdef __cplusplus
extern "C" {
#endif

/// The result of a call. Each kind of tmajit::Error has one value, which no version changes; a later version
/// may add values.
typedef int32_t tmajit_status;
enum {
  TMAJIT_OK = 0,
  TMAJIT_INVALID_ARGUMENT = 1,  ///< the caller passed a null handle, an unknown name or a value out of range
  TMAJIT_ILLEGAL_SPEC = 2,      ///< breaks rules of the driver, the PTX ISA or the hardware
  TMAJIT_COMPILE_FAILED = 3,    ///< NVRTC rejected the source
  TMAJIT_UNAVAILABLE = 4,       ///< this machine lacks NVRTC, a driver or a Hopper GPU
  TMAJIT_IO = 5,                ///< a file could not be read or written
  TMAJIT_OUT_OF_MEMORY = 6,     ///< device or host memory ran out
  TMAJIT_DEVICE_FAILED = 7,     ///< the driver reported an error, or a kernel faulted
  TMAJIT_INVALID_IMAGE = 8,     ///< the driver rejected a kernel's code
  TMAJIT_UNSUPPORTED = 9,       ///< legal, but not supported by tmajit
  TMAJIT_INTERNAL = 10,         ///< a mistake in tmajit itself
  TMAJIT_MISSING_KERNEL = 11    ///< no cache has the kernel, and the runtime may not compile it
};
/// "ok", "illegal_spec"; "unknown" for a value that this version does not have.
TMAJIT_C_API const char* tmajit_status_name(tmajit_status status);

/// The version of the library that is loaded: "0.2.0".
TMAJIT_C_API const char* tmajit_version(void);

/// The failure of one call. Functions that can fail take `tmajit_error** error` last. If it is not null,
/// a call that fails stores a new error there, which the caller destroys, and a call that succeeds stores
/// null. An error is an object, not thread-local state, because a goroutine may continue on another thread
/// after a call.
typedef struct tmajit_error tmajit_error;
/// Does nothing for null, as do all functions that destroy an object.
TMAJIT_C_API void tmajit_error_destroy(tmajit_error* error);
/// The status that the call returned; TMAJIT_OK for null.
TMAJIT_C_API tmajit_status tmajit_error_status(const tmajit_error* error);
/// A full sentence: what was wrong, where, and what would be legal. Lives as long as the error; "" for null.
TMAJIT_C_API const char* tmajit_error_message(const tmajit_error* error);
/// NVRTC's whole log for TMAJIT_COMPILE_FAILED, else "". Lives as long as the error.
TMAJIT_C_API const char* tmajit_error_log(const tmajit_error* error);

/// One broken rule of an error with TMAJIT_ILLEGAL_SPEC. The texts live as long as the error.
typedef struct tmajit_violation {
  size_t size;          ///< sizeof(tmajit_violation)
  const char* rule;     ///< stable identifier, "box.inner-bytes"
  const char* subject;  ///< which field of which operand, "input 0: box[1]"
  const char* found;    ///< the offending value, "12 bytes (3 × f32)"
  const char* need;     ///< the rule in words, "a multiple of 16 bytes"
  const char* legal;    ///< the nearest legal value or rewrite, "box[1] = 4"
  const char* source;   ///< origin of the rule, "cuTensorMapEncodeTiled, boxDim"
} tmajit_violation;
/// The number of rules that the call broke; 0 for other errors and for null.
TMAJIT_C_API size_t tmajit_error_violation_count(const tmajit_error* error);
/// Fills `violation`, whose size the caller has set. TMAJIT_INVALID_ARGUMENT for an index out of range.
TMAJIT_C_API tmajit_status tmajit_error_violation(const tmajit_error* error, size_t index,
                                                  tmajit_violation* violation);

/// Text or bytes that a call made: a source, an explanation, a cubin.
typedef struct tmajit_text tmajit_text;
TMAJIT_C_API void tmajit_text_destroy(tmajit_text* text);
/// The bytes, followed by a NUL; they live as long as the object. "" for null.
TMAJIT_C_API const char* tmajit_text_data(const tmajit_text* text);
/// The number of bytes without that NUL; 0 for null.
TMAJIT_C_API size_t tmajit_text_size(const tmajit_text* text);

#ifdef __cplusplus
}
#endif
#endif
