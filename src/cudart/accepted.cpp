// Functions whose parameters are ignored or differ between versions of CUDA, so that no CUDA header is
// included. Some succeed and do nothing; the simulated device does not support the rest.
#include "cudart/missing.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

extern "C" {
int tmajit_create_context(void** context);
int tmajit_not_supported(const char* function);

// Advice on the location of memory, profilers, and settings that a single device does not need.
#define TMAJIT_ACCEPTED(function) \
  int function() {                \
    return 0;                     \
  }
#include "cudart/accepted.inc"
#undef TMAJIT_ACCEPTED

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
