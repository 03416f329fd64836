// Finds functions by name, for programs that are not linked with the driver.
#include "cudart/driver.hpp"
#include "cudart/missing.hpp"

#include <array>
#include <string>
#include <string_view>

#include <dlfcn.h>

using namespace tmajit::cudart;

namespace {

/// The newest version of the function in this library; null if it has none. Programs pass the name without a
/// version. Many of the driver's functions are exported with one as suffix (_v2).
void* function_named(const char* name) {
  if (is_missing(name)) return nullptr;
  // A handle of this library. Searching it finds the simulated functions even if the real driver is loaded,
  // too.
  static void* const self = [] {
    Dl_info info{};
    ::dladdr(reinterpret_cast<const void*>(&is_missing), &info);
    return ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  constexpr std::array versions{"_v3", "_v2", ""};
  for (const char* version : versions) {
    if (void* const found = ::dlsym(self, (std::string(name) + version).c_str()); found != nullptr)
      return found;
  }
  return nullptr;
}

/// Finds a function. An unknown name is an error unless the caller asks for a status.
void find(const char* name, void** function, bool has_status) {
  void*& result = require_non_null(function, "the result");
  result = function_named(&require_non_null(name, "the name"));
  if (result == nullptr && !has_status)
    throw Failure(cudaErrorSymbolNotFound, std::string("there is no ") + name + " on the simulated device");
}

cudaError_t find_entry_point(const char* name, void** function, cudaDriverEntryPointQueryResult* status) {
  return guarded("cudaGetDriverEntryPoint", [&] {
    find(name, function, status != nullptr);
    if (status != nullptr)
      *status = *function == nullptr ? cudaDriverEntryPointSymbolNotFound : cudaDriverEntryPointSuccess;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long,
                                    cudaDriverEntryPointQueryResult* status) {
  return find_entry_point(name, function, status);
}
cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* status) {
  return find_entry_point(name, function, status);
}

CUresult cuGetProcAddress(const char* name, void** function, int, cuuint64_t,
                          CUdriverProcAddressQueryResult* status) {
  return driver_guarded(__func__, [&] {
    find(name, function, false);
    if (status != nullptr) *status = CU_GET_PROC_ADDRESS_SUCCESS;
  });
}

}  // extern "C"
