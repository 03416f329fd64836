#ifndef TMAJIT_C_TUNING_H
#define TMAJIT_C_TUNING_H

/// Tuning: a GPU measures candidates for a plan (docs/explain.md) or for a kernel of your own
/// (docs/own_kernels.md). The fastest choices for plans are in a table of the runtime.
#include <tmajit/c/kernel.h>
#include <tmajit/c/plan.h>
#include <tmajit/c/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tmajit_tune_options {
  size_t size;          ///< sizeof(tmajit_tune_options)
  uint32_t repeats;     ///< timed runs of each candidate; 0: 20
  uint32_t not_stored;  ///< 1: reports the fastest choice, but does not store it
  /// Called before each measurement, on the calling thread, or null. `done` is the work done so far, in units
  /// of candidates. `choice` is the candidate to be measured; it lives until the callback returns.
  void (*progress)(void* context, uint32_t done, uint32_t candidates, const char* choice);
  void* progress_context;
} tmajit_tune_options;
typedef struct tmajit_tuned {
  size_t size;          ///< sizeof(tmajit_tuned)
  const char* choice;   ///< "transpose 64x64, 256 threads"; lives as long as the report
  double microseconds;  ///< the median
  double predicted_us;  ///< by the cost model
} tmajit_tuned;
/// A candidate that could not be compiled, loaded or prepared. Its texts live as long as the report.
typedef struct tmajit_left_out {
  size_t size;         ///< sizeof(tmajit_left_out)
  const char* choice;  ///< as in tmajit_tuned
  const char* why;     ///< the error
} tmajit_left_out;
/// The candidates that were measured, fastest first, and those that were left out.
typedef struct tmajit_tune_report tmajit_tune_report;
/// Measures every candidate for the plan's largest step on the plan's tensors, overwriting the destinations.
/// In a chain it is a step of the fused operation that moves the most bytes. Unless options->not_stored is 1,
/// later plans for the same shapes use the fastest candidate. `options` may be null. TMAJIT_UNAVAILABLE
/// without a GPU.
TMAJIT_C_API tmajit_status tmajit_plan_tune(const tmajit_plan* plan, const tmajit_tune_options* options,
                                            tmajit_tune_report** report, tmajit_error** error);
TMAJIT_C_API void tmajit_tune_report_destroy(tmajit_tune_report* report);
/// The class of moves whose plans use the fastest choice, as text for people. Lives as long as the report; ""
/// for null, and for a plan without kernels.
TMAJIT_C_API const char* tmajit_tune_report_shape_class(const tmajit_tune_report* report);
TMAJIT_C_API size_t tmajit_tune_report_count(const tmajit_tune_report* report);
/// Fills `*tuned`, whose size the caller has set. TMAJIT_INVALID_ARGUMENT for an index out of range.
TMAJIT_C_API tmajit_status tmajit_tune_report_item(const tmajit_tune_report* report, size_t index,
                                                   tmajit_tuned* tuned, tmajit_error** error);
TMAJIT_C_API size_t tmajit_tune_report_left_out_count(const tmajit_tune_report* report);
/// Fills `*left_out`, whose size the caller has set. TMAJIT_INVALID_ARGUMENT for an index out of range.
TMAJIT_C_API tmajit_status tmajit_tune_report_left_out(const tmajit_tune_report* report, size_t index,
                                                       tmajit_left_out* left_out, tmajit_error** error);

/// The runtime's tuned choices as JSON (docs/explain.md): those that come with the library, replaced by those
/// of the file tuning.json in the cache folder, and by those that were added or measured since.
TMAJIT_C_API tmajit_status tmajit_tuning_json(const tmajit_runtime* runtime, tmajit_text** text,
                                              tmajit_error** error);
/// Adds choices in the form of tmajit_tuning_json(), which replace those of the same chip and class. With
/// `stored` = 1 they are also stored in tuning.json of the cache folder, if the runtime has one, where
/// choices of other processes are kept. TMAJIT_INVALID_ARGUMENT that says where the text is wrong: no choice
/// is added then. TMAJIT_IO if the file is broken or cannot be written: the runtime then uses the choices,
/// and the log has the reason.
TMAJIT_C_API tmajit_status tmajit_tuning_add(tmajit_runtime* runtime, const char* json, size_t json_bytes,
                                             uint32_t stored, tmajit_error** error);
/// Writes tmajit_tuning_json() to a file, whole or not at all. TMAJIT_IO if that fails.
TMAJIT_C_API tmajit_status tmajit_tuning_save(const tmajit_runtime* runtime, const char* file,
                                              tmajit_error** error);
/// Increases with every change of the choices. A plan that was made earlier may then differ from one made
/// now. 0 for null.
TMAJIT_C_API uint64_t tmajit_tuning_generation(const tmajit_runtime* runtime);

/// A constant and the values to try for it.
typedef struct tmajit_constant_choices {
  const char* name;
  const char* const* values;  ///< C++ literals, as those of tmajit_kernel_source::constants
  size_t value_count;
} tmajit_constant_choices;

/// One combination of constants, for which the callback of tmajit_kernel_tune() describes the launch. It
/// lives until the callback returns.
typedef struct tmajit_variant tmajit_variant;
/// Describes the launch. The call reads everything and keeps no pointer. TMAJIT_INVALID_ARGUMENT for illegal
/// members: the combination is then left out, with this error as the reason, unless a later call succeeds.
/// TMAJIT_INVALID_ARGUMENT also for a second launch: the first one is measured.
TMAJIT_C_API tmajit_status tmajit_variant_launch(tmajit_variant* variant, const tmajit_launch* launch,
                                                 tmajit_error** error);
/// Leaves the combination out, for a reason that the report repeats. TMAJIT_INVALID_ARGUMENT if the reason is
/// empty, or if the variant has a launch.
TMAJIT_C_API tmajit_status tmajit_variant_leave_out(tmajit_variant* variant, const char* why,
                                                    tmajit_error** error);

typedef struct tmajit_kernel_tune_options {
  size_t size;        ///< sizeof(tmajit_kernel_tune_options)
  uint32_t repeats;   ///< timed runs of each combination; 0: 20
  uint32_t reserved;  ///< 0
  /// As tmajit_tune_options::progress. `constants` are those to be measured, "rows = 8, stages = 4".
  void (*progress)(void* context, uint32_t done, uint32_t candidates, const char* constants);
  void* progress_context;
} tmajit_kernel_tune_options;
/// A combination that was measured. Its constants live as long as the report.
typedef struct tmajit_tuned_kernel {
  size_t size;                         ///< sizeof(tmajit_tuned_kernel)
  const tmajit_named_text* constants;  ///< one for each of the choices, in their order
  size_t constant_count;
  double microseconds;  ///< the median
} tmajit_tuned_kernel;
/// A combination that has no launch, or could not be compiled, loaded, prepared or launched. Its constants
/// and texts live as long as the report.
typedef struct tmajit_left_out_kernel {
  size_t size;                         ///< sizeof(tmajit_left_out_kernel)
  const tmajit_named_text* constants;  ///< one for each of the choices, in their order
  size_t constant_count;
  const char* why;  ///< the error, or the reason given to tmajit_variant_leave_out()
} tmajit_left_out_kernel;
/// The combinations that were measured, fastest first, and those that were left out.
typedef struct tmajit_kernel_tune_report tmajit_kernel_tune_report;
/// Times a kernel for every combination of the choices' values, the last constant changing fastest. Launches
/// run many times, on the tensors that they describe. `source` has the constants that do not change; its
/// `shared_bytes` is not used, because each launch has its own.
///
/// `describe` is called once for each combination, with one constant for each of the choices, in their order,
/// and calls tmajit_variant_launch() or tmajit_variant_leave_out(). A combination for which it calls neither
/// is left out. All calls come first, on the calling thread; then other threads compile the kernels. A
/// literal that `describe` gets and the report has may be spelt in another way than the caller's, but has the
/// same type and value. `options` may be null.
///
/// TMAJIT_INVALID_ARGUMENT for a value that is no literal, for a constant without values, and for more than
/// 4096 combinations. TMAJIT_UNAVAILABLE without a GPU. If no combination can be launched, the error of
/// one of them.
TMAJIT_C_API tmajit_status tmajit_kernel_tune(tmajit_runtime* runtime, const tmajit_kernel_source* source,
                                              const tmajit_constant_choices* choices, size_t choice_count,
                                              void (*describe)(void* context,
                                                               const tmajit_named_text* constants,
                                                               size_t constant_count,
                                                               tmajit_variant* variant),
                                              void* context, const tmajit_kernel_tune_options* options,
                                              tmajit_kernel_tune_report** report, tmajit_error** error);
TMAJIT_C_API void tmajit_kernel_tune_report_destroy(tmajit_kernel_tune_report* report);
TMAJIT_C_API size_t tmajit_kernel_tune_report_count(const tmajit_kernel_tune_report* report);
/// Fills `*tuned`, whose size the caller has set. TMAJIT_INVALID_ARGUMENT for an index out of range.
TMAJIT_C_API tmajit_status tmajit_kernel_tune_report_item(const tmajit_kernel_tune_report* report,
                                                          size_t index, tmajit_tuned_kernel* tuned,
                                                          tmajit_error** error);
/// The kernel of a combination that was measured; index 0 is the fastest. It is not compiled again. The
/// caller destroys it. It may outlive the report.
TMAJIT_C_API tmajit_status tmajit_kernel_tune_report_kernel(const tmajit_kernel_tune_report* report,
                                                            size_t index, tmajit_kernel** kernel,
                                                            tmajit_error** error);
TMAJIT_C_API size_t tmajit_kernel_tune_report_left_out_count(const tmajit_kernel_tune_report* report);
/// Fills `*left_out`, whose size the caller has set. TMAJIT_INVALID_ARGUMENT for an index out of range.
TMAJIT_C_API tmajit_status tmajit_kernel_tune_report_left_out(const tmajit_kernel_tune_report* report,
                                                              size_t index, tmajit_left_out_kernel* left_out,
                                                              tmajit_error** error);

#ifdef __cplusplus
}
#endif
#endif
