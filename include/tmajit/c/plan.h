#ifndef TMAJIT_C_PLAN_H
#define TMAJIT_C_PLAN_H

/// Plans. A plan is an operation whose kernels are chosen, compiled and loaded. tmajit_<operation>_plan() of
/// <tmajit/c/operations.h> makes it, for given tensors. `stream` may be null, which is the default stream.
#include <tmajit/c/kernel.h>
#include <tmajit/c/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A plan of an operation or of a chain (<tmajit/c/chain.h>). It may be used after its runtime's handle has
/// been destroyed.
typedef struct tmajit_plan tmajit_plan;
TMAJIT_C_API void tmajit_plan_destroy(tmajit_plan* plan);

/// Enqueues the plan's kernels on the tensors that the plan was made for. The stream may be one that
/// is being captured into a CUDA graph. Returns TMAJIT_UNAVAILABLE if the runtime has no device.
TMAJIT_C_API tmajit_status tmajit_plan_launch(const tmajit_plan* plan, void* stream, tmajit_error** error);
/// As tmajit_plan_launch(), but with other memory: the tensors begin at these addresses, in the operation's
/// order. Takes little more time, except that the first launch on addresses with a new alignment may compile
/// other kernels. Returns TMAJIT_INVALID_ARGUMENT unless there are as many addresses
/// as tensors and for the plan of a chain (<tmajit/c/chain.h>), and TMAJIT_ILLEGAL_SPEC if tensors overlap.
TMAJIT_C_API tmajit_status tmajit_plan_launch_on(const tmajit_plan* plan, const uint64_t* destinations,
                                                 size_t destination_count, const uint64_t* sources,
                                                 size_t source_count, void* stream, tmajit_error** error);

/// Bytes that a launch reads and writes, where each element counts once; 0 for null.
TMAJIT_C_API uint64_t tmajit_plan_bytes_moved(const tmajit_plan* plan);
/// The number of kernels that a launch runs; 0 for null, and if there is nothing to move.
TMAJIT_C_API size_t tmajit_plan_kernel_count(const tmajit_plan* plan);
/// Kernel number `index`, from 0, in the order of launches. <tmajit/c/kernel.h> gives its source, PTX and
/// resources. The caller destroys it.
TMAJIT_C_API tmajit_status tmajit_plan_kernel(const tmajit_plan* plan, size_t index, tmajit_kernel** kernel,
                                              tmajit_error** error);
/// A page of text that explains why these kernels were chosen.
TMAJIT_C_API tmajit_status tmajit_plan_explanation(const tmajit_plan* plan, tmajit_text** text,
                                                   tmajit_error** error);
/// The same explanation as JSON on one line (docs/explain.md); for a chain, an object with "sentences" and
/// the explanations of its operations, "plans".
TMAJIT_C_API tmajit_status tmajit_plan_explanation_json(const tmajit_plan* plan, tmajit_text** text,
                                                        tmajit_error** error);

#ifdef __cplusplus
}
#endif
#endif
