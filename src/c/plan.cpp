#include "c/handles.hpp"

#include <tmajit/report/plan.hpp>

#include <vector>

using namespace tmajit;

namespace {

std::vector<Kernel> kernels_of(const tmajit_plan& plan) {
  std::vector<Kernel> kernels;
  for (const Plan& one : plan.plans())
    kernels.insert(kernels.end(), one.kernels().begin(), one.kernels().end());
  return kernels;
}

}  // namespace

void tmajit_plan_destroy(tmajit_plan* plan) {
  delete plan;
}

tmajit_status tmajit_plan_launch(const tmajit_plan* plan, void* stream, tmajit_error** error) {
  return c::guarded(error, [&] {
    std::visit([&](const auto& planned) { planned(c::to_stream(stream)); },
               c::require_non_null(plan, "plan").plan);
  });
}

tmajit_status tmajit_plan_launch_on(const tmajit_plan* plan, const uint64_t* destinations,
                                    size_t destination_count, const uint64_t* sources, size_t source_count,
                                    void* stream, tmajit_error** error) {
  return c::guarded(error, [&] {
    const auto* const planned = std::get_if<Plan>(&c::require_non_null(plan, "plan").plan);
    if (planned == nullptr)
      refuse("the plan is for a chain, whose tensors have no order; tmajit_plan_launch_moved() moves them");
    const List<DevicePtr> destination_list(c::array(destinations, destination_count, "destinations"));
    const List<DevicePtr> source_list(c::array(sources, source_count, "sources"));
    (*planned)(destination_list, source_list, c::to_stream(stream));
  });
}

uint64_t tmajit_plan_bytes_moved(const tmajit_plan* plan) {
  return plan == nullptr ? 0
                         : std::visit([](const auto& planned) { return planned.bytes_moved(); }, plan->plan);
}

size_t tmajit_plan_kernel_count(const tmajit_plan* plan) {
  return plan == nullptr ? 0 : kernels_of(*plan).size();
}

tmajit_status tmajit_plan_kernel(const tmajit_plan* plan, size_t index, tmajit_kernel** kernel,
                                 tmajit_error** error) {
  return c::guarded(error, [&] {
    c::clear_result(kernel, "kernel");
    const Kernel found = c::item(kernels_of(c::require_non_null(plan, "plan")), index, "kernel");
    *kernel = new tmajit_kernel{.device = plan->runtime.device(), .kernel = found};
  });
}

tmajit_status tmajit_plan_explanation(const tmajit_plan* plan, tmajit_text** text, tmajit_error** error) {
  return c::store_text(text, error, [&] {
    const tmajit_plan& planned = c::require_non_null(plan, "plan");
    const auto* const chain = std::get_if<ChainPlan>(&planned.plan);
    return chain != nullptr ? chain->explanation() : std::get<Plan>(planned.plan).explain().text();
  });
}

tmajit_status tmajit_plan_explanation_json(const tmajit_plan* plan, tmajit_text** text,
                                           tmajit_error** error) {
  return c::store_text(text, error, [&] {
    const tmajit_plan& planned = c::require_non_null(plan, "plan");
    const auto* const chain = std::get_if<ChainPlan>(&planned.plan);
    return chain != nullptr ? explanation_json(*chain)
                            : explanation_json(std::get<Plan>(planned.plan).explain());
  });
}
