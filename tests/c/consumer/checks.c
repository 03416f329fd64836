// Lint, and a run on the simulated device, of a kernel with planted mistakes.
#include "consumer.h"

// Each thread writes one element. The launch has one thread more than `y` has elements.
static const char text[] =
    "extern \"C\" __global__ void fill(int* y, int n) {\n"
    "  if (threadIdx.x == 0) printf(\"n is %d\", n);\n"
    "  y[threadIdx.x] = n;\n"
    "}\n";

// The kernel waits for an mbarrier that no thread initialises.
static const char broken[] =
    ".version 8.0\n.target sm_90a\n.address_size 64\n"
    ".visible .entry waits()\n{\n"
    ".reg .pred %p<2>;\n.shared .align 8 .b64 bar;\n"
    "again: mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;\n"
    "@!%p1 bra again;\n"
    "ret;\n}\n";

static size_t printed_bytes;
static void print(void* context, const char* printed, size_t bytes) {
  memcpy(context, printed, bytes);
  printed_bytes += bytes;
}

// Checks that `findings` in this format contain `words`.
static void expect_format(const tmajit_findings* findings, const char* format,
                          const tmajit_findings_options* options, const char* words) {
  tmajit_text* text = NULL;
  EXPECT_OK(tmajit_findings_format(findings, format, options, &text, &error));
  EXPECT(strstr(tmajit_text_data(text), words) != NULL);
  EXPECT(tmajit_text_size(text) == strlen(tmajit_text_data(text)));
  tmajit_text_destroy(text);
}

static void lint(void) {
  tmajit_findings* findings = NULL;
  EXPECT_OK(tmajit_lint("this is no PTX", 14, NULL, &findings, &error));
  EXPECT(tmajit_findings_count(findings) > 0);
  tmajit_findings_destroy(findings);

  const tmajit_lint_options named = {.size = sizeof named, .name = "broken.ptx"};
  EXPECT_OK(tmajit_lint(broken, strlen(broken), &named, &findings, &error));
  EXPECT(tmajit_findings_count(findings) == 1);
  tmajit_finding finding = {.size = sizeof finding};
  EXPECT_OK(tmajit_findings_item(findings, 0, &finding, &error));
  printf("lint: %s, PTX line %u: %s\n", finding.rule, finding.ptx_line, finding.message);
  EXPECT(finding.ptx_line == 8 && finding.count == 1 && strcmp(finding.kernel, "waits") == 0);
  EXPECT(strlen(finding.remedy) > 0 && strlen(finding.meaning) > 0 && strlen(finding.source) > 0);
  EXPECT(strstr(tmajit_findings_text(findings), "broken.ptx:8:") != NULL);
  expect_format(findings, "text", NULL, "broken.ptx:8:");
  expect_format(findings, "json", NULL, "\"input\":\"broken.ptx\"");
  const tmajit_findings_options nightly = {
      .size = sizeof nightly, .tool = "nightly", .fails = TMAJIT_MISTAKE};
  expect_format(findings, "sarif", &nightly, "\"name\": \"nightly\"");
  expect_format(findings, "junit", &nightly, "failures=\"1\"");
  tmajit_text* none = NULL;
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "legal: text, json, sarif, junit",
               tmajit_findings_format(findings, "xml", NULL, &none, &error));
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "findings is null",
               tmajit_findings_format(NULL, "json", NULL, &none, &error));
  EXPECT(none == NULL);
  char rule[64];
  snprintf(rule, sizeof rule, "%s", finding.rule);
  tmajit_findings_destroy(findings);

  const char* const rules[] = {rule};
  const tmajit_lint_options allowing = {.size = sizeof allowing, .allowed = rules, .allowed_count = 1};
  EXPECT_OK(tmajit_lint(broken, strlen(broken), &allowing, &findings, &error));
  EXPECT(tmajit_findings_count(findings) == 0 && strcmp(tmajit_findings_text(findings), "") == 0);
  tmajit_findings_destroy(findings);

  tmajit_rule first = {.size = sizeof first};
  EXPECT_OK(tmajit_rule_item(0, &first, &error));
  EXPECT(tmajit_rule_count() > 50 && strlen(first.id) > 0 && strlen(first.legal) > 0);
}

// Launches `kernel` with 32 threads on `y`, which has 31 elements.
static tmajit_status launch_fill(const tmajit_kernel* kernel, const tmajit_tensor* y, tmajit_error** error) {
  const int32_t n = 31;
  const tmajit_argument arguments[] = {
      {.size = sizeof arguments[0], .kind = TMAJIT_ARGUMENT_ADDRESS},
      {.size = sizeof arguments[0], .kind = TMAJIT_ARGUMENT_VALUE, .value = &n, .value_bytes = sizeof n}};
  const tmajit_launch launch = {.size = sizeof launch,
                                .block = {32},
                                .tensors = y,
                                .tensor_count = 1,
                                .arguments = arguments,
                                .argument_count = 2};
  return tmajit_kernel_launch(kernel, &launch, NULL, error);
}

static void expect_out_of_bounds(tmajit_runtime* runtime, const tmajit_kernel* kernel) {
  EXPECT_ERROR(TMAJIT_DEVICE_FAILED, "global.out-of-bounds", tmajit_synchronize(runtime, NULL, &error));
  tmajit_findings* findings = NULL;
  EXPECT_OK(tmajit_runtime_findings(runtime, &findings, &error));
  EXPECT(tmajit_findings_count(findings) == 1);
  tmajit_finding finding = {.size = sizeof finding};
  EXPECT_OK(tmajit_findings_item(findings, 0, &finding, &error));
  printf("simulated device: %s, %s:%llu, thread %u: %s\n", finding.rule, finding.file,
         (unsigned long long)finding.line, finding.thread[0], finding.message);
  EXPECT(strcmp(finding.rule, "global.out-of-bounds") == 0 && finding.severity == TMAJIT_MISTAKE);
  EXPECT(strstr(finding.file, "fill.cu") != NULL && finding.line == 3 && finding.thread[0] == 31);
  EXPECT(strstr(finding.text, finding.rule) != NULL);
  const char* const whole = tmajit_findings_text(findings);
  EXPECT(strstr(whole, finding.text) == whole && whole[strlen(whole) - 1] == '\n');
  const tmajit_findings_options options = {.size = sizeof options, .kernels = &kernel, .kernel_count = 1};
  expect_format(findings, "json", &options, "\"thread\":[31,0,0]");
  expect_format(findings, "json", &options, "\"kernels\":[\"fill\"]");
  expect_format(findings, "sarif", &options, "thread (31, 0, 0)");
  expect_format(findings, "junit", &options, "tests=\"1\" failures=\"1\"");
  tmajit_findings_destroy(findings);
  EXPECT_OK(tmajit_runtime_forget(runtime, &error));
  EXPECT_OK(tmajit_runtime_findings(runtime, &findings, &error));
  EXPECT(tmajit_findings_count(findings) == 0);
  tmajit_findings_destroy(findings);
}

static void simulate(void) {
  char printed[64] = "";
  const tmajit_simulation simulation = {
      .size = sizeof simulation, .mode = TMAJIT_RANDOM, .seed = 3, .print = print, .print_context = printed};
  const tmajit_runtime_options options = {
      .size = sizeof options, .device = TMAJIT_DEVICE_SIMULATED, .simulation = &simulation};
  tmajit_runtime* runtime = NULL;
  EXPECT_OK(tmajit_runtime_make(&options, &runtime, &error));
  const tmajit_kernel_source source = {.size = sizeof source, .text = text, .file = "fill.cu"};
  tmajit_kernel* kernel = NULL;
  EXPECT_OK(tmajit_kernel_make(runtime, &source, &kernel, &error));

  // Host memory, which the device maps at the same address.
  int32_t y[31] = {0};
  tmajit_buffer* mapped = NULL;
  EXPECT_OK(tmajit_buffer_map(runtime, y, sizeof y, &mapped, &error));
  EXPECT(tmajit_buffer_address(mapped) == (uint64_t)(uintptr_t)y);
  const tmajit_tensor tensor = dense_tensor(TMAJIT_I32, 31, 0, mapped);
  EXPECT_OK(launch_fill(kernel, &tensor, &error));
  expect_out_of_bounds(runtime, kernel);
  EXPECT(printed_bytes == 7 && strcmp(printed, "n is 31") == 0);

  // The kernel loaded from its PTX, as from PTX of another compiler.
  tmajit_text* ptx = NULL;
  EXPECT_OK(tmajit_kernel_text(kernel, TMAJIT_KERNEL_PTX, &ptx, &error));
  tmajit_kernel* loaded = NULL;
  EXPECT_OK(tmajit_kernel_load_ptx(runtime, tmajit_text_data(ptx), tmajit_text_size(ptx), "fill", 0, &loaded,
                                   &error));
  EXPECT_OK(launch_fill(loaded, &tensor, &error));
  expect_out_of_bounds(runtime, loaded);
  tmajit_kernel_destroy(loaded);
  EXPECT_ERROR(TMAJIT_INVALID_ARGUMENT, "no kernel",
               tmajit_kernel_load_ptx(runtime, tmajit_text_data(ptx), tmajit_text_size(ptx), "drain", 0,
                                      &loaded, &error));
  tmajit_text_destroy(ptx);

  // Objects may outlive the handle of their runtime.
  tmajit_runtime_destroy(runtime);
  tmajit_buffer_destroy(mapped);
  tmajit_kernel_destroy(kernel);
}

void use_checks(void) {
  lint();
  simulate();
}
