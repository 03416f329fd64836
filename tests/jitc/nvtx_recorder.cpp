// A profiler for tests: NVTX loads this library into a process if NVTX_INJECTION64_PATH names it. It writes
// the names of ranges to standard error.
#include <cstdio>

#include <nvtx3/nvToolsExt.h>

namespace {

int begin_range(const char* name) {
  std::fprintf(stderr, "begin %s\n", name);
  return 0;
}

int end_range() {
  std::fputs("end\n", stderr);
  return 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  const auto* const callbacks = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable functions = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr || callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &functions, &size) == 0)
    return 0;
  *functions[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(&begin_range);
  *functions[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(&end_range);
  return 1;
}
