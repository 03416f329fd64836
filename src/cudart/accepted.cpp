// Functions that do nothing but return a status, and functions whose parameters differ between versions of
// CUDA. Most are defined without their parameters, so this file includes no CUDA header.
#include "cudart/missing.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

extern "C" {
int tmajit_create_context(void** context);
int tmajit_not_supported(const char* function);

// These functions succeed and do nothing.
#define TMAJIT_ACCEPTED(function) \
  int function() {                \
    return 0;                     \
  }
#include "cudart/accepted.inc"
#undef TMAJIT_ACCEPTED

// These functions are not supported on the simulated device.
#define TMAJIT_MISSING(function)            \
  int function() {                          \
    return tmajit_not_supported(#function); \
  }
#include "cudart/missing.inc"
#undef TMAJIT_MISSING

int cuCtxCreate(void** context) {
  return tmajit_create_context(context);
}
int cuCtxCreate_v2(void** context) {
  return tmajit_create_context(context);
}
int cuCtxCreate_v3(void** context) {
  return tmajit_create_context(context);
}
int cuCtxCreate_v4(void** context) {
  return tmajit_create_context(context);
}
}

TMAJIT_BEGIN
namespace cudart {

bool is_missing(std::string_view name) noexcept {
  static constexpr std::string_view names[] = {
#define TMAJIT_MISSING(function) #function,
#include "cudart/missing.inc"
#undef TMAJIT_MISSING
  };
  return std::ranges::find(names, name) != std::end(names);
}

}  // namespace cudart
TMAJIT_END
