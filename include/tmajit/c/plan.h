#ifndef TMAJIT_C_PLAN_H
#define TMAJIT_C_PLAN_H

/// Plans: operations whose kernels are chosen, compiled and loaded. tmajit_<operation>_plan() of
/// <tmajit/c/operations.h> makes them.
#include <tmajit/c/kernel.h>
#include <tmajit/c/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A plan may outlive the handle of its runtime.
typedef struct tmajit_plan tmajit_plan;
TMAJIT_C_API void tmajit_plan_destroy(tmajit_plan* plan);

/// Enqueues the plan's kernels for the tensors that it was planned for. Works while a stream is captured.
/// TMAJIT_UNAVAILABLE without a device.
TMAJIT_C_API tmajit_status tmajit_plan_launch(const tmajit_plan* plan, void* stream, tmajit_error** error);
/// Launches the plan on other memory: on these addresses of the destinations and of the sources, in the
/// operation's order. Costs little more than tmajit_plan_launch(). TMAJIT_ILLEGAL_SPEC if tensors overlap.
TMAJIT_C_API tmajit_status tmajit_plan_launch_on(const tmajit_plan* plan, const uint64_t* destinations,
                                                 size_t destination_count, const uint64_t* sources,
                                                 size_t source_count, void* stream, tmajit_error** error);

/// Bytes read and written, each element once; 0 for null.
TMAJIT_C_API uint64_t tmajit_plan_bytes_moved(const tmajit_plan* plan);
/// The number of kernels that a launch runs; 0 for null, and if there is nothing to move.
TMAJIT_C_API size_t tmajit_plan_kernel_count(const tmajit_plan* plan);
/// Kernel number `index`, for its source, PTX and resources. The caller destroys it.
TMAJIT_C_API tmajit_status tmajit_plan_kernel(const tmajit_plan* plan, size_t index, tmajit_kernel** kernel,
                                              tmajit_error** error);
/// Explains in a page of text why these kernels were chosen.
TMAJIT_C_API tmajit_status tmajit_plan_explanation(const tmajit_plan* plan, tmajit_text** text,
                                                   tmajit_error** error);
/// The explanation as JSON on one line (docs/explain.md).
TMAJIT_C_API tmajit_status tmajit_plan_explanation_json(const tmajit_plan* plan, tmajit_text** text,
                                                        tmajit_error** error);

#ifdef __cplusplus
}
#endif
#endif
