#include "launch/parameter.hpp"

#include <tmajit/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

/// Parses arbitrary bytes as a launch description. The parser may throw only Error{invalid_argument}; an
/// accepted description must survive a round trip, and its parameters must have sizes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto launch = tmajit::parse_launch({reinterpret_cast<const char*>(data), size});
    if (!(tmajit::parse_launch(tmajit::launch_json(launch)) == launch)) std::abort();
    for (const auto& parameter : launch.parameters) {
      if (tmajit::bytes_of(parameter) == 0 || tmajit::describe(parameter).empty()) std::abort();
    }
  } catch (const tmajit::Error& error) {
    if (error.code() != tmajit::ErrorCode::invalid_argument) std::abort();
  }
  return 0;
}
