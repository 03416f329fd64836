#ifndef TMAJIT_C_CHECK_H
#define TMAJIT_C_CHECK_H

/// Mistakes in kernels. Lint finds them in PTX; the simulated device reports them in runs.
#include <tmajit/c/kernel.h>
#include <tmajit/c/runtime.h>

#ifdef __cplusplus
extern "C" {
#endif

/// How much a finding matters.
enum {
  TMAJIT_ADVICE = 0,    ///< nothing is wrong with the kernel
  TMAJIT_OMISSION = 1,  ///< the PTX ISA requires something that the kernel, like many working kernels, lacks
  TMAJIT_MISTAKE = 2    ///< the kernel is wrong
};

/// A mistake and its location. No text is null; texts live as long as the tmajit_findings object.
typedef struct tmajit_finding {
  size_t size;              ///< sizeof(tmajit_finding)
  const char* rule;         ///< stable identifier, "shared.in-flight-read"
  const char* message;      ///< what the kernel did in the run, or what its PTX says
  const char* file;         ///< the source file; "" where the PTX does not name it
  uint64_t line;            ///< the line in that file; 0 without line information
  int32_t severity;         ///< TMAJIT_ADVICE …
  uint32_t ptx_line;        ///< line of the PTX, from 1; 0 if it belongs to no instruction
  uint32_t ptx_column;      ///< column, from 1; 0 if it belongs to no instruction
  uint32_t reserved;        ///< 0
  const char* kernel;       ///< the kernel's name
  const char* instruction;  ///< the PTX instruction
  const char* expected;     ///< the legal behaviour
  const char* remedy;       ///< the usual fix
  const char* meaning;      ///< behaviour of a kernel that breaks the rule
  const char* source;       ///< text that states the rule, "PTX ISA: mbarrier.init"
  const char* text;         ///< everything in one paragraph; "" for a finding of lint
  uint64_t count;           ///< number of such mistakes in the launch; 1 for a finding of lint
  uint32_t cta[3];          ///< index of the CTA, x first; zeros for a finding of lint
  uint32_t thread[3];       ///< index of the first thread that made it; zeros for a finding of lint
} tmajit_finding;

typedef struct tmajit_findings tmajit_findings;
TMAJIT_C_API void tmajit_findings_destroy(tmajit_findings* findings);
TMAJIT_C_API size_t tmajit_findings_count(const tmajit_findings* findings);
/// Fills `*finding`, whose size the caller has set. TMAJIT_INVALID_ARGUMENT for an index out of range.
TMAJIT_C_API tmajit_status tmajit_findings_item(const tmajit_findings* findings, size_t index,
                                                tmajit_finding* finding, tmajit_error** error);
/// All findings as text to print; "" if `findings` is null or empty. Lives as long as `findings`.
TMAJIT_C_API const char* tmajit_findings_text(const tmajit_findings* findings);

typedef struct tmajit_findings_options {
  size_t size;         ///< sizeof(tmajit_findings_options)
  const char* tool;    ///< name of the tool in SARIF and JUnit XML; null: "tmajit"
  const char* input;   ///< name of the PTX; null: the name given to lint, or "simulated device"
  const char* source;  ///< path of the source file that the PTX was compiled from, or null
  int32_t fails;       ///< the least severity that is a failed test in JUnit XML, TMAJIT_ADVICE …
  uint32_t reserved;   ///< 0
  /// Kernels that were checked or launched: findings in them get the source lines into which they were
  /// inlined. Reports of the simulated device name no other kernels, so without findings a kernel is a passed
  /// test only if it is listed here.
  const tmajit_kernel* const* kernels;
  size_t kernel_count;
} tmajit_findings_options;
/// All findings as a new text. `format` is "text" (tmajit_findings_text()), "json" (the object that
/// `jitc lint --json` prints, without the members allowed and milliseconds; reports of the simulated device
/// also have cta, thread and count), "sarif" (SARIF 2.1.0, for code hosts) or "junit" (XML, for CI services).
/// `options` may be null. TMAJIT_INVALID_ARGUMENT for an unknown format.
TMAJIT_C_API tmajit_status tmajit_findings_format(const tmajit_findings* findings, const char* format,
                                                  const tmajit_findings_options* options, tmajit_text** text,
                                                  tmajit_error** error);

/// A tensor map that a kernel takes: lint checks the copies through it.
typedef struct tmajit_lint_map {
  const char* parameter;        ///< its name in the PTX, or its number, counted from 0: "2"
  const tmajit_tensor* tensor;  ///< lint does not use its address
  const tmajit_tensor_map* map;
} tmajit_lint_map;
typedef struct tmajit_lint_options {
  size_t size;                 ///< sizeof(tmajit_lint_options)
  const char* name;            ///< the PTX's name in tmajit_findings_text(); null: "ptx"
  const char* entry;           ///< symbol of the only kernel to check; null: all kernels
  const char* project;         ///< root folder of your sources, to which findings refer; or null
  const char* const* allowed;  ///< ids of rules that lint does not report
  size_t allowed_count;
  const tmajit_lint_map* maps;
  size_t map_count;
} tmajit_lint_options;
/// Checks a PTX module without running it. The status is TMAJIT_OK even if there are findings. Text that is
/// not PTX gives a finding, too. `options` may be null.
TMAJIT_C_API tmajit_status tmajit_lint(const char* ptx, size_t ptx_bytes, const tmajit_lint_options* options,
                                       tmajit_findings** findings, tmajit_error** error);

/// The reports of all launches on a runtime's simulated device since the last tmajit_runtime_forget(), in
/// order. TMAJIT_UNSUPPORTED for another device.
TMAJIT_C_API tmajit_status tmajit_runtime_findings(const tmajit_runtime* runtime, tmajit_findings** findings,
                                                   tmajit_error** error);
/// Discards the reports of earlier launches.
TMAJIT_C_API tmajit_status tmajit_runtime_forget(tmajit_runtime* runtime, tmajit_error** error);
/// Thread instructions that all launches on the simulated device executed. Instructions of CTAs that a report
/// ended do not count. 0 for other devices.
TMAJIT_C_API uint64_t tmajit_runtime_instructions(const tmajit_runtime* runtime);

/// A rule that a kernel can break. Texts live as long as the process.
typedef struct tmajit_rule {
  size_t size;          ///< sizeof(tmajit_rule)
  const char* id;       ///< stable identifier
  const char* meaning;  ///< behaviour of a kernel that breaks it
  const char* legal;    ///< the legal behaviour
  const char* remedy;   ///< the usual fix
  const char* source;   ///< text that states the rule
  int32_t severity;     ///< TMAJIT_ADVICE …
  uint32_t reserved;    ///< 0
} tmajit_rule;
TMAJIT_C_API size_t tmajit_rule_count(void);
/// Fills `*rule`, whose size the caller has set, with rule number `index`. Rules are sorted by id.
TMAJIT_C_API tmajit_status tmajit_rule_item(size_t index, tmajit_rule* rule, tmajit_error** error);

#ifdef __cplusplus
}
#endif
#endif
