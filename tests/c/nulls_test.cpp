/// Calls every function with null pointers and zeros: none crashes.
#include "operations/names.hpp"

#include <tmajit/c.h>

#include <string_view>

#include <catch2/catch_test_macros.hpp>

namespace {

/// The result of a call whose arguments are all null or 0.
template <class Result, class... Parameters>
Result with_zeros(Result (*function)(Parameters...)) {
  return function(Parameters{}...);
}

}  // namespace

TEST_CASE("functions of operations reject null handles and tensors") {
#define TMAJIT_CHECK_NULLS(name)                                           \
  CHECK(with_zeros(tmajit_##name) == TMAJIT_INVALID_ARGUMENT);             \
  CHECK(with_zeros(tmajit_##name##_plan) == TMAJIT_INVALID_ARGUMENT);      \
  CHECK(with_zeros(tmajit_##name##_operation) == TMAJIT_INVALID_ARGUMENT); \
  CHECK(with_zeros(tmajit_##name##_results) == TMAJIT_INVALID_ARGUMENT);
  TMAJIT_FOR_EACH_OPERATION(TMAJIT_CHECK_NULLS)
#undef TMAJIT_CHECK_NULLS
}

TEST_CASE("all other functions that return a status reject null handles and pointers") {
  CHECK(with_zeros(tmajit_buffer_fill) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_buffer_make) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_buffer_map) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_buffer_read) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_buffer_write) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_chain_plan) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_error_violation) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_findings_format) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_findings_item) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_gpu) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_history_kernel) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_kernel_launch) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_kernel_load_ptx) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_kernel_make) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_kernel_prepare) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_kernel_resources) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_kernel_text) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_kernel_tune) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_kernel_tune_report_item) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_kernel_tune_report_kernel) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_kernel_tune_report_left_out) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_lint) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_plan_explanation) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_plan_explanation_json) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_plan_kernel) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_plan_launch) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_plan_launch_moved) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_plan_launch_on) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_plan_tune) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_prefetch_failure) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_prefetch_make) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_prepared_launch) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_prepared_rebind) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_rule_item) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_runtime_counters) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_runtime_device) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_runtime_history) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_runtime_findings) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_runtime_forget) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_runtime_make) == TMAJIT_INVALID_ARGUMENT);
  CHECK(tmajit_set_log(nullptr, nullptr, TMAJIT_LOG_OFF + 1, nullptr) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_stream_make) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_synchronize) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_tensor_broadcast) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_tensor_flipped) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_tensor_memory) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_tensor_permuted) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_tensor_reinterpreted) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_tensor_reshaped) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_tensor_sliced) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_tune_report_item) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_tune_report_left_out) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_tuning_add) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_tuning_json) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_tuning_save) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_variant_launch) == TMAJIT_INVALID_ARGUMENT);
  CHECK(with_zeros(tmajit_variant_leave_out) == TMAJIT_INVALID_ARGUMENT);
}

TEST_CASE("functions that cannot fail accept null") {
  CHECK(with_zeros(tmajit_buffer_address) == 0);
  CHECK(with_zeros(tmajit_buffer_bytes) == 0);
  CHECK(with_zeros(tmajit_dtype_bytes) == 0);
  CHECK(with_zeros(tmajit_error_violation_count) == 0);
  CHECK(with_zeros(tmajit_findings_count) == 0);
  CHECK(with_zeros(tmajit_kernel_tune_report_count) == 0);
  CHECK(with_zeros(tmajit_kernel_tune_report_left_out_count) == 0);
  CHECK(with_zeros(tmajit_plan_bytes_moved) == 0);
  CHECK(with_zeros(tmajit_plan_kernel_count) == 0);
  CHECK(with_zeros(tmajit_plan_sentence) == nullptr);
  CHECK(with_zeros(tmajit_plan_sentence_count) == 0);
  CHECK(with_zeros(tmajit_prefetch_done) == 0);
  CHECK(with_zeros(tmajit_prefetch_failure_count) == 0);
  CHECK(with_zeros(tmajit_prefetch_made) == 0);
  CHECK(with_zeros(tmajit_prefetch_total) == 0);
  CHECK(with_zeros(tmajit_prefetch_wait) == 1);
  CHECK(with_zeros(tmajit_runtime_instructions) == 0);
  CHECK(with_zeros(tmajit_tune_report_count) == 0);
  CHECK(with_zeros(tmajit_tune_report_left_out_count) == 0);
  CHECK(with_zeros(tmajit_tuning_generation) == 0);
  CHECK(with_zeros(tmajit_dtype_of) == 0);
  CHECK(with_zeros(tmajit_text_size) == 0);
  CHECK(with_zeros(tmajit_error_status) == 0);
  CHECK(std::string_view(with_zeros(tmajit_error_log)).empty());
  CHECK(std::string_view(with_zeros(tmajit_error_message)).empty());
  CHECK(std::string_view(with_zeros(tmajit_findings_text)).empty());
  CHECK(std::string_view(with_zeros(tmajit_kernel_entry)).empty());
  CHECK(std::string_view(with_zeros(tmajit_text_data)).empty());
  CHECK(std::string_view(with_zeros(tmajit_tune_report_shape_class)).empty());
  CHECK(with_zeros(tmajit_dtype_name) == nullptr);
  CHECK(with_zeros(tmajit_status_name) == std::string_view("ok"));
  with_zeros(tmajit_buffer_destroy);
  with_zeros(tmajit_error_destroy);
  with_zeros(tmajit_findings_destroy);
  with_zeros(tmajit_kernel_destroy);
  with_zeros(tmajit_kernel_tune_report_destroy);
  with_zeros(tmajit_operation_destroy);
  with_zeros(tmajit_plan_destroy);
  with_zeros(tmajit_prefetch_cancel);
  with_zeros(tmajit_prefetch_destroy);
  with_zeros(tmajit_prepared_destroy);
  with_zeros(tmajit_runtime_destroy);
  with_zeros(tmajit_stream_destroy);
  with_zeros(tmajit_text_destroy);
  with_zeros(tmajit_tune_report_destroy);
}
