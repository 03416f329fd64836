#include "c/handles.hpp"
#include "c/tensor.hpp"

#include <tmajit/c/chain.h>

#include <vector>

using namespace tmajit;

void tmajit_operation_destroy(tmajit_operation* operation) {
  delete operation;
}

tmajit_status tmajit_chain_plan(tmajit_runtime* runtime, const tmajit_operation* const* operations,
                                size_t operation_count, const tmajit_tensor* unused, size_t unused_count,
                                tmajit_plan** plan, tmajit_error** error) {
  return c::guarded(error, [&] {
    c::clear_result(plan, "plan");
    const Runtime& cpp_runtime = c::require_non_null(runtime, "runtime").runtime;
    std::vector<Operation> chain;
    for (const tmajit_operation* const one : c::array(operations, operation_count, "operations"))
      chain.push_back(c::require_non_null(one, fmt::format("operation {}", chain.size())).operation);
    if (chain.empty()) refuse("operations: a chain has at least one operation");
    const std::vector<Tensor> unused_tensors = c::to_tensors(unused, unused_count, "unused");
    const Fusion fusion = fuse(List<Operation>(std::span(chain)), List<Tensor>(std::span(unused_tensors)));
    *plan = new tmajit_plan{cpp_runtime, tmajit::plan(cpp_runtime, fusion)};
  });
}

tmajit_status tmajit_plan_launch_moved(const tmajit_plan* plan, const tmajit_tensor* planned,
                                       const uint64_t* addresses, size_t count, void* stream,
                                       tmajit_error** error) {
  return c::guarded(error, [&] {
    const auto* const chain = std::get_if<ChainPlan>(&c::require_non_null(plan, "plan").plan);
    if (chain == nullptr)
      refuse("the plan is for one operation, not for a chain; tmajit_plan_launch_on() moves its tensors");
    const auto address_list = c::array(addresses, count, "addresses");
    std::vector<MovedTensor> moved;
    for (const Tensor& tensor : c::to_tensors(planned, count, "planned"))
      moved.push_back({tensor, address_list[moved.size()]});
    (*chain)(List<MovedTensor>(std::span(moved)), c::to_stream(stream));
  });
}

size_t tmajit_plan_sentence_count(const tmajit_plan* plan) {
  const auto* const chain = plan == nullptr ? nullptr : std::get_if<ChainPlan>(&plan->plan);
  return chain == nullptr ? 0 : chain->sentences().size();
}

const char* tmajit_plan_sentence(const tmajit_plan* plan, size_t index) {
  return index < tmajit_plan_sentence_count(plan) ? std::get<ChainPlan>(plan->plan).sentences()[index].c_str()
                                                  : nullptr;
}
