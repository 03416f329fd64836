#pragma once

#include <tmajit/version.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

TMAJIT_BEGIN
namespace c {

/// Tells a caller's callback, which may be null, about the progress of a tuning.
[[nodiscard]] inline std::function<void(std::uint32_t, std::uint32_t, std::string_view)> to_progress(
    void (*callback)(void* context, std::uint32_t done, std::uint32_t candidates, const char* measured),
    void* context) {
  if (callback == nullptr) return {};
  return [callback, context](std::uint32_t done, std::uint32_t candidates, std::string_view measured) {
    callback(context, done, candidates, std::string(measured).c_str());
  };
}

}  // namespace c
TMAJIT_END
