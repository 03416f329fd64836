#include "c/handles.hpp"
#include "c/progress.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

struct tmajit_tune_report {
  struct Candidate {
    std::string choice;
    double microseconds = 0;
    double predicted_us = 0;
  };
  struct LeftOut {
    std::string choice;
    std::string why;
  };
  std::string shape_class;
  std::vector<Candidate> candidates;
  std::vector<LeftOut> left_out;
};

using namespace tmajit;

tmajit_status tmajit_plan_tune(const tmajit_plan* plan, const tmajit_tune_options* options,
                               tmajit_tune_report** report, tmajit_error** error) {
  return c::guarded(error, [&] {
    c::clear_result(report, "report");
    const tmajit_plan& planned = c::require_non_null(plan, "plan");
    const tmajit_tune_options c_options = c::read_optional(options, "options");
    TuneOptions tune_options{.progress = c::to_progress(c_options.progress, c_options.progress_context),
                             .store = !c::flag(c_options.not_stored, "options: not_stored")};
    if (c_options.repeats != 0) tune_options.repeats = c_options.repeats;
    auto made = std::make_unique<tmajit_tune_report>();
    const Plan& largest = *std::ranges::max_element(planned.plans(), {}, &Plan::bytes_moved);
    const TuneReport measured = tune(planned.runtime, largest, tune_options);
    if (!measured.shape_class.family.empty()) made->shape_class = measured.shape_class.text();
    for (const TuneReport::Candidate& one : measured.candidates)
      made->candidates.push_back({one.choice.text(), one.microseconds, one.predicted_us});
    for (const TuneReport::LeftOut& one : measured.left_out)
      made->left_out.push_back({one.choice.text(), one.why});
    *report = made.release();
  });
}

void tmajit_tune_report_destroy(tmajit_tune_report* report) {
  delete report;
}

const char* tmajit_tune_report_shape_class(const tmajit_tune_report* report) {
  return report == nullptr ? "" : report->shape_class.c_str();
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

size_t tmajit_tune_report_left_out_count(const tmajit_tune_report* report) {
  return report == nullptr ? 0 : report->left_out.size();
}

tmajit_status tmajit_tune_report_left_out(const tmajit_tune_report* report, size_t index,
                                          tmajit_left_out* left_out, tmajit_error** error) {
  return c::guarded(error, [&] {
    const auto& one =
        c::item(c::require_non_null(report, "report").left_out, index, "candidate that was left out");
    c::fill(left_out, "left_out", {.size = 0, .choice = one.choice.c_str(), .why = one.why.c_str()});
  });
}

tmajit_status tmajit_tuning_json(const tmajit_runtime* runtime, tmajit_text** text, tmajit_error** error) {
  return c::store_text(text, error,
                       [&] { return tuning(c::require_non_null(runtime, "runtime").runtime).json(); });
}

tmajit_status tmajit_tuning_add(tmajit_runtime* runtime, const char* json, size_t json_bytes, uint32_t stored,
                                tmajit_error** error) {
  return c::guarded(error, [&] {
    const Runtime& to = c::require_non_null(runtime, "runtime").runtime;
    const auto bytes = c::array(json, json_bytes, "json");
    const std::string_view text(bytes.data(), bytes.size());
    if (!c::flag(stored, "stored")) {
      tuning(to).add_json(text, "json");
      return;
    }
    TuningTable added;
    added.add_json(text, "json");
    if (!remember(to, added.all())) {
      fail(ErrorCode::io,
           "the runtime uses the choices, but tuning.json in its cache folder was not changed; the log has "
           "the reason");
    }
  });
}

tmajit_status tmajit_tuning_save(const tmajit_runtime* runtime, const char* file, tmajit_error** error) {
  return c::guarded(error, [&] {
    const TuningTable& table = tuning(c::require_non_null(runtime, "runtime").runtime);
    table.save(&c::require_non_null(file, "file"));
  });
}

uint64_t tmajit_tuning_generation(const tmajit_runtime* runtime) {
  uint64_t generation = 0;
  if (runtime != nullptr)
    (void)c::guarded(nullptr, [&] { generation = tuning(runtime->runtime).generation(); });
  return generation;
}
