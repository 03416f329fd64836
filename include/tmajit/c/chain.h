#ifndef TMAJIT_C_CHAIN_H
#define TMAJIT_C_CHAIN_H

/// Chains of operations in fewer kernels (docs/fusion.md): operations as values, and plans of chains.
#include <tmajit/c/plan.h>
#include <tmajit/c/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/// An operation on tensors, which tmajit_<operation>_operation() makes. It does not own the tensors' memory.
typedef struct tmajit_operation tmajit_operation;
TMAJIT_C_API void tmajit_operation_destroy(tmajit_operation* operation);

/// Fuses operations, which are executed in order, and plans them. A source of an operation may be a
/// destination of an earlier one, or a view of a part of it. `unused` are the intermediate tensors that
/// nothing reads after the chain: they need not be written. They need memory nevertheless, as those that
/// cannot be fused away are written. The plan may outlive the operations. Returns the errors of
/// tmajit_<operation>_plan().
TMAJIT_C_API tmajit_status tmajit_chain_plan(tmajit_runtime* runtime,
                                             const tmajit_operation* const* operations,
                                             size_t operation_count, const tmajit_tensor* unused,
                                             size_t unused_count, tmajit_plan** plan, tmajit_error** error);

/// As tmajit_plan_launch(), but tensors of the chain are at other addresses: planned[i] and all parts of it
/// at addresses[i], all other tensors where they were planned. Takes little more time, except that the first
/// launch on addresses with a new alignment may compile other kernels. Returns TMAJIT_INVALID_ARGUMENT if an
/// operation's tensor is only partly within planned[i], if a destination would share other bytes with another
/// tensor than planned, and for the plan of a single operation, whose tensors tmajit_plan_launch_on() moves.
TMAJIT_C_API tmajit_status tmajit_plan_launch_moved(const tmajit_plan* plan, const tmajit_tensor* planned,
                                                    const uint64_t* addresses, size_t count, void* stream,
                                                    tmajit_error** error);

/// The number of sentences. They say which operations of a chain are fused, and why two are not. 0 for null
/// and for the plan of a single operation.
TMAJIT_C_API size_t tmajit_plan_sentence_count(const tmajit_plan* plan);
/// Sentence number `index`, from 0. Lives as long as the plan. Null if `index` is out of range.
TMAJIT_C_API const char* tmajit_plan_sentence(const tmajit_plan* plan, size_t index);

#ifdef __cplusplus
}
#endif
#endif
