#include "runtime/profiler_range.hpp"

#include <spdlog/fmt/fmt.h>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#endif

TMAJIT_BEGIN

#if __has_include(<nvtx3/nvToolsExt.h>)

namespace {

/// NVTX initialises itself in the first call of a thread, while other threads read its pointers. Here they
/// wait for it.
void initialise_once() noexcept {
  [[maybe_unused]] static const bool is_initialised = [] {
    nvtxInitialize(nullptr);
    return true;
  }();
}

}  // namespace

ProfilerRange::ProfilerRange(std::string_view stage, std::string_view kernel) noexcept {
  initialise_once();
  fmt::basic_memory_buffer<char, 256> text;
  try {
    fmt::format_to(std::back_inserter(text), "{} {}", stage, kernel);
    text.push_back('\0');
    nvtxRangePushA(text.data());
  } catch (...) {
    nvtxRangePushA("tmajit");  // the destructor ends a range
  }
}

ProfilerRange::~ProfilerRange() {
  nvtxRangePop();
}

#else

ProfilerRange::ProfilerRange(std::string_view, std::string_view) noexcept {}
ProfilerRange::~ProfilerRange() = default;

#endif

TMAJIT_END
