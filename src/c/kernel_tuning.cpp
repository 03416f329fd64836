#include "c/handles.hpp"
#include "c/kernel_source.hpp"
#include "c/launches.hpp"
#include "c/progress.hpp"
#include "c/variants.hpp"

#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct tmajit_kernel_tune_report {
  struct Candidate {
    tmajit::c::NamedConstants constants;
    double microseconds = 0;
  };
  struct LeftOut {
    tmajit::c::NamedConstants constants;
    std::string why;
  };
  tmajit::Runtime runtime;
  tmajit::c::DescribedVariants variants;
  std::vector<Candidate> candidates = {};
  std::vector<LeftOut> left_out = {};
};

TMAJIT_BEGIN
namespace c {
namespace {

std::vector<ConstantChoices> to_choices(const tmajit_constant_choices* first, std::size_t count) {
  std::vector<ConstantChoices> all;
  for (const tmajit_constant_choices& one : array(first, count, "choices")) {
    ConstantChoices& choices = all.emplace_back();
    choices.name = &require_non_null(one.name, "choices: a constant's name");
    for (const std::string& value :
         texts(one.values, one.value_count, fmt::format("choices: values of {}", choices.name)))
      choices.values.push_back(KernelConstant::parse(choices.name, value).value);
  }
  return all;
}

}  // namespace
}  // namespace c
TMAJIT_END

using namespace tmajit;

tmajit_status tmajit_variant_launch(tmajit_variant* variant, const tmajit_launch* launch,
                                    tmajit_error** error) {
  return c::guarded(error, [&] {
    tmajit_variant& described = c::require_non_null(variant, "variant");
    if (described.launch) refuse("the variant has a launch already");
    try {
      described.launch = c::to_launch(launch);
    } catch (...) {
      described.why_none = std::current_exception();
      throw;
    }
  });
}

tmajit_status tmajit_variant_leave_out(tmajit_variant* variant, const char* why, tmajit_error** error) {
  return c::guarded(error, [&] {
    tmajit_variant& described = c::require_non_null(variant, "variant");
    const char& reason = c::require_non_null(why, "why");
    if (reason == '\0') refuse("why is empty; the report needs a reason");
    if (described.launch) refuse("the variant has a launch already");
    described.why_none = std::make_exception_ptr(Error(ErrorCode::invalid_argument, &reason));
  });
}

tmajit_status tmajit_kernel_tune(tmajit_runtime* runtime, const tmajit_kernel_source* source,
                                 const tmajit_constant_choices* choices, size_t choice_count,
                                 void (*describe)(void* context, const tmajit_named_text* constants,
                                                  size_t constant_count, tmajit_variant* variant),
                                 void* context, const tmajit_kernel_tune_options* options,
                                 tmajit_kernel_tune_report** report, tmajit_error** error) {
  return c::guarded(error, [&] {
    c::clear_result(report, "report");
    const Runtime& on = c::require_non_null(runtime, "runtime").runtime;
    const tmajit_kernel_tune_options c_options = c::read_optional(options, "options");
    c::require_zero("options", c_options.reserved);
    OwnTuneOptions tune_options{.progress = c::to_progress(c_options.progress, c_options.progress_context)};
    if (c_options.repeats != 0) tune_options.repeats = c_options.repeats;
    OwnKernel kernel = c::to_own_kernel(c::read(source, "source"));
    const std::vector<ConstantChoices> tried = c::to_choices(choices, choice_count);
    if (describe == nullptr) refuse("describe is null");
    std::unique_ptr<tmajit_kernel_tune_report> made(new tmajit_kernel_tune_report{
        .runtime = on, .variants = {std::move(kernel), tried, describe, context}});
    const auto variant = [&](const std::vector<KernelConstant>& constants) {
      return OwnVariant{made->variants.kernel().with(constants), made->variants.launch_of(constants)};
    };
    OwnTuneReport measured = tune(on, tried, variant, tune_options);
    for (OwnTuneReport::Candidate& one : measured.candidates)
      made->candidates.push_back({c::NamedConstants(std::move(one.constants)), one.microseconds});
    for (OwnTuneReport::LeftOut& one : measured.left_out)
      made->left_out.push_back({c::NamedConstants(std::move(one.constants)), std::move(one.why)});
    *report = made.release();
  });
}

void tmajit_kernel_tune_report_destroy(tmajit_kernel_tune_report* report) {
  delete report;
}

size_t tmajit_kernel_tune_report_count(const tmajit_kernel_tune_report* report) {
  return report == nullptr ? 0 : report->candidates.size();
}

tmajit_status tmajit_kernel_tune_report_item(const tmajit_kernel_tune_report* report, size_t index,
                                             tmajit_tuned_kernel* tuned, tmajit_error** error) {
  return c::guarded(error, [&] {
    const auto& one = c::item(c::require_non_null(report, "report").candidates, index, "combination");
    c::fill(tuned, "tuned",
            {.size = 0,
             .constants = one.constants.texts().data(),
             .constant_count = one.constants.texts().size(),
             .microseconds = one.microseconds});
  });
}

tmajit_status tmajit_kernel_tune_report_kernel(const tmajit_kernel_tune_report* report, size_t index,
                                               tmajit_kernel** kernel, tmajit_error** error) {
  return c::guarded(error, [&] {
    c::clear_result(kernel, "kernel");
    const tmajit_kernel_tune_report& made = c::require_non_null(report, "report");
    const auto& constants = c::item(made.candidates, index, "combination").constants.constants();
    const std::uint32_t shared_bytes = made.variants.launch_of(constants).shape.shared_bytes;
    *kernel = new tmajit_kernel{
        .device = made.runtime.device(),
        .kernel = made.runtime.kernel(source(made.variants.kernel().with(constants)), shared_bytes)};
  });
}

size_t tmajit_kernel_tune_report_left_out_count(const tmajit_kernel_tune_report* report) {
  return report == nullptr ? 0 : report->left_out.size();
}

tmajit_status tmajit_kernel_tune_report_left_out(const tmajit_kernel_tune_report* report, size_t index,
                                                 tmajit_left_out_kernel* left_out, tmajit_error** error) {
  return c::guarded(error, [&] {
    const auto& one =
        c::item(c::require_non_null(report, "report").left_out, index, "combination that was left out");
    c::fill(left_out, "left_out",
            {.size = 0,
             .constants = one.constants.texts().data(),
             .constant_count = one.constants.texts().size(),
             .why = one.why.c_str()});
  });
}
