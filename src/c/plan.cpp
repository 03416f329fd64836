#include "c/handles.hpp"

#include <tmajit/report/plan.hpp>

#include <memory>
#include <string>
#include <vector>

struct tmajit_tune_report {
  struct Candidate {
    std::string choice;
    double microseconds = 0;
    double predicted_us = 0;
  };
  std::vector<Candidate> candidates;
};

TMAJIT_BEGIN
namespace c {
namespace {

/// Stores a text that `make()` returns.
template <class Make>
tmajit_status store_text(tmajit_text** text, tmajit_error** error, Make&& make) {
  return guarded(error, [&] {
    clear_result(text, "text");
    *text = new tmajit_text{make()};
  });
}

}  // namespace
}  // namespace c
TMAJIT_END

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

tmajit_status tmajit_plan_tune(const tmajit_plan* plan, const tmajit_tune_options* options,
                               tmajit_tune_report** report, tmajit_error** error) {
  return c::guarded(error, [&] {
    c::clear_result(report, "report");
    const tmajit_plan& planned = c::require_non_null(plan, "plan");
    const tmajit_tune_options c_options = c::read_optional(options, "options");
    TuneOptions tune_options{.store = !c::flag(c_options.not_stored, "options: not_stored")};
    if (c_options.repeats != 0) tune_options.repeats = c_options.repeats;
    auto made = std::make_unique<tmajit_tune_report>();
    const TuneReport measured = tune(planned.runtime, planned.plan, tune_options);
    for (const TuneReport::Candidate& one : measured.candidates)
      made->candidates.push_back({one.choice.text(), one.microseconds, one.predicted_us});
    *report = made.release();
  });
}

void tmajit_tune_report_destroy(tmajit_tune_report* report) {
  delete report;
}

size_t tmajit_tune_report_count(const tmajit_tune_report* report) {
  return report == nullptr ? 0 : report->candidates.size();
}

tmajit_status tmajit_tune_report_item(const tmajit_tune_report* report, size_t index, tmajit_tuned* tuned,
                                      tmajit_error** error) {
  return c::guarded(error, [&] {
    const auto& one = c::item(c::require_non_null(report, "report").candidates, index, "candidate");
    c::fill(tuned, "tuned",
            {.size = 0,
             .choice = one.choice.c_str(),
             .microseconds = one.microseconds,
             .predicted_us = one.predicted_us});
  });
}
