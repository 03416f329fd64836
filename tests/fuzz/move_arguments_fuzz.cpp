#include "parse.hpp"

#include <tmajit/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

/// Runs `parse`, which may throw only Error{invalid_argument} with a message.
template <class Parse>
void try_parse(const Parse& parse) {
  try {
    parse();
  } catch (const tmajit::Error& error) {
    if (error.code() != tmajit::ErrorCode::invalid_argument || error.what()[0] == '\0') std::abort();
  }
}

}  // namespace

/// Parses arbitrary text as slices, paddings and axes. It must be rejected, or accepted and survive a round
/// trip.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try_parse([&] {
    const auto slices = jitc::parse_slices(text);
    if (slices.empty() || jitc::parse_slices(jitc::format(slices)) != slices) std::abort();
    for (const auto& slice : slices) {
      if (slice.step == 0) std::abort();
    }
  });
  try_parse([&] {
    const auto widths = jitc::parse_padding(text);
    if (widths.before.size() != widths.after.size()) std::abort();
    if (!(jitc::parse_padding(jitc::format(widths)) == widths)) std::abort();
  });
  for (std::uint32_t rank = 0; rank <= 8; ++rank) {
    try_parse([&] {
      const auto axes = jitc::parse_axes(text, rank, "--axes");
      if (axes.size() > rank) std::abort();
      for (const auto axis : axes) {
        if (axis >= rank) std::abort();
      }
    });
  }
  return 0;
}
