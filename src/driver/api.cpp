#include "driver/api.hpp"

#include <dlfcn.h>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace driver {
namespace {

/// The CUDA version whose function signatures are requested: the oldest that has all entry points. A request
/// for a later version may return a function with other parameters, as 13.0 does for cuCtxGetDevice.
constexpr int api_version = 12000;

}  // namespace

Api::Address Api::find(const char* name) {
  Address found;
  if (get_proc_address == nullptr) return found;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
  const CUresult result =
      get_proc_address(name, &found.address, api_version, CU_GET_PROC_ADDRESS_DEFAULT, &status);
  if (result == CUDA_SUCCESS && found.address != nullptr) return found;
  missing += missing.empty() ? name : fmt::format(", {}", name);
  return {};
}

Api::Address Api::find_newer(const char* name, int version) const {
  Address found;
  CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
  if (get_proc_address == nullptr ||
      get_proc_address(name, &found.address, version, CU_GET_PROC_ADDRESS_DEFAULT, &status) != CUDA_SUCCESS) {
    return {};
  }
  return found;
}

Library load_library(const char* soname) {
  // Never closed: the driver has threads and state that live until the process ends.
  void* const handle = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* const why = dlerror();
    return {.api = {},
            .reason = fmt::format("no {} on this machine; install an NVIDIA driver ({})", soname,
                                  why != nullptr ? why : "unknown reason")};
  }
  // The versioned symbol: the plain one has the signature of CUDA 11, without the query result.
  void* const get_proc_address = dlsym(handle, "cuGetProcAddress_v2");
  if (get_proc_address == nullptr) {
    return {.api = {},
            .reason =
                fmt::format("{} is older than CUDA 12.0; update the NVIDIA driver to 525 or later", soname)};
  }
  const Api api(reinterpret_cast<Api::GetProcAddress>(get_proc_address));
  if (!api.missing.empty()) {
    return {
        .api = {},
        .reason = fmt::format("{} lacks {}; update the NVIDIA driver to 525 or later", soname, api.missing)};
  }
  // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): not null, because `missing` is empty
  if (const CUresult result = api.init(0); result != CUDA_SUCCESS) {
    return {.api = {}, .reason = "the NVIDIA driver is installed, but " + describe(api, result, "cuInit")};
  }
  return {.api = api, .reason = {}};
}

const Library& library() {
  // Never destroyed: a Device that a static object of the application holds may outlive this one.
  static const Library& loaded = *new Library(load_library("libcuda.so.1"));
  return loaded;
}

}  // namespace driver
TMAJIT_END
