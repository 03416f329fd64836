#ifndef TMAJIT_C_PREFETCH_H
#define TMAJIT_C_PREFETCH_H

/// Kernels that are made in the background, before they are asked for (docs/ready.md).
#include <tmajit/c/chain.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tmajit_prefetch_options {
  size_t size;  ///< sizeof(tmajit_prefetch_options)
  /// Background threads that the runtime may have from now on; 0, or fewer than it has: those that it has, at
  /// least 1.
  uint32_t threads;
  uint32_t reserved;  ///< 0
  /// Called after each kernel, or null. Background threads call it, and calls may overlap. A kernel is done
  /// once the callback has returned. `kernel` is the choice of the kernel, and `error` says why it could not
  /// be made, or is ""; both live until the callback returns.
  void (*progress)(void* context, size_t done, size_t total, const char* kernel, const char* error);
  void* progress_context;
} tmajit_prefetch_options;

/// Kernels that are being made. They are made to the end even if the handle is destroyed.
typedef struct tmajit_prefetch tmajit_prefetch;
/// Makes the kernels that plans of these operations use, in the background threads of the runtime, and
/// returns at once. The operations' tensors need no memory: only the views, and the alignment and relative
/// offset of the addresses matter. Returns the errors of tmajit_<operation>_plan() for an illegal operation;
/// tmajit_prefetch_failure() returns those of compiling.
TMAJIT_C_API tmajit_status tmajit_prefetch_make(tmajit_runtime* runtime,
                                                const tmajit_operation* const* operations,
                                                size_t operation_count,
                                                const tmajit_prefetch_options* options,
                                                tmajit_prefetch** prefetch, tmajit_error** error);
TMAJIT_C_API void tmajit_prefetch_destroy(tmajit_prefetch* prefetch);

/// Kernels that are made, failed or cancelled; 0 for null.
TMAJIT_C_API size_t tmajit_prefetch_done(const tmajit_prefetch* prefetch);
/// Kernels that were made or found; 0 for null.
TMAJIT_C_API size_t tmajit_prefetch_made(const tmajit_prefetch* prefetch);
/// All kernels of the prefetch; 0 for null.
TMAJIT_C_API size_t tmajit_prefetch_total(const tmajit_prefetch* prefetch);
/// Cancels the kernels that no thread makes yet.
TMAJIT_C_API void tmajit_prefetch_cancel(tmajit_prefetch* prefetch);
/// Waits for at most `milliseconds` until all kernels are done. Returns 1 if they are, else 0.
TMAJIT_C_API int32_t tmajit_prefetch_wait(const tmajit_prefetch* prefetch, uint64_t milliseconds);
/// Kernels that could not be made so far; 0 for null.
TMAJIT_C_API size_t tmajit_prefetch_failure_count(const tmajit_prefetch* prefetch);
/// Failure number `index`, from 0: the choice of the kernel, a colon and the error.
TMAJIT_C_API tmajit_status tmajit_prefetch_failure(const tmajit_prefetch* prefetch, size_t index,
                                                   tmajit_text** text, tmajit_error** error);

#ifdef __cplusplus
}
#endif
#endif
