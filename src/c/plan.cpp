#include "c/handles.hpp"

#include <tmajit/report/plan.hpp>

using namespace tmajit;

void tmajit_plan_destroy(tmajit_plan* plan) {
  delete plan;
}

tmajit_status tmajit_plan_launch(const tmajit_plan* plan, void* stream, tmajit_error** error) {
  return c::guarded(error, [&] { c::require_non_null(plan, "plan").plan(c::to_stream(stream)); });
}

tmajit_status tmajit_plan_launch_on(const tmajit_plan* plan, const uint64_t* destinations,
                                    size_t destination_count, const uint64_t* sources, size_t source_count,
                                    void* stream, tmajit_error** error) {
  return c::guarded(error, [&] {
    const Plan& planned = c::require_non_null(plan, "plan").plan;
    const List<DevicePtr> destination_list(c::array(destinations, destination_count, "destinations"));
    const List<DevicePtr> source_list(c::array(sources, source_count, "sources"));
    planned(destination_list, source_list, c::to_stream(stream));
  });
}

uint64_t tmajit_plan_bytes_moved(const tmajit_plan* plan) {
  return plan == nullptr ? 0 : plan->plan.bytes_moved();
}

size_t tmajit_plan_kernel_count(const tmajit_plan* plan) {
  return plan == nullptr ? 0 : plan->plan.kernels().size();
}

tmajit_status tmajit_plan_kernel(const tmajit_plan* plan, size_t index, tmajit_kernel** kernel,
                                 tmajit_error** error) {
  return c::guarded(error, [&] {
    c::clear_result(kernel, "kernel");
    const Kernel& found = c::item(c::require_non_null(plan, "plan").plan.kernels(), index, "kernel");
    *kernel = new tmajit_kernel{.device = plan->runtime.device(), .kernel = found};
  });
}

tmajit_status tmajit_plan_explanation(const tmajit_plan* plan, tmajit_text** text, tmajit_error** error) {
  return c::store_text(text, error, [&] { return c::require_non_null(plan, "plan").plan.explain().text(); });
}

tmajit_status tmajit_plan_explanation_json(const tmajit_plan* plan, tmajit_text** text,
                                           tmajit_error** error) {
  return c::store_text(text, error,
                       [&] { return explanation_json(c::require_non_null(plan, "plan").plan.explain()); });
}
