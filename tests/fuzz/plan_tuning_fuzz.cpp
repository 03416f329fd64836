#include <tmajit/error.hpp>
#include <tmajit/tuning.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

/// Parses arbitrary bytes as a tuning file. The parser may throw only Error{invalid_argument}, and then the
/// table stays empty. An accepted file must survive a round trip.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tmajit::TuningTable table;
  try {
    table.add_json({reinterpret_cast<const char*>(data), size});
  } catch (const tmajit::Error& error) {
    if (error.code() != tmajit::ErrorCode::invalid_argument || !table.all().empty()) std::abort();
    return 0;
  }
  tmajit::TuningTable again;
  again.add_json(table.json());
  if (again.all() != table.all() || again.json() != table.json()) std::abort();
  // Every entry that was read has a text.
  for (const tmajit::TunedChoice& tuned : table.all()) {
    if (tuned.choice.text().empty() || tuned.shape_class.text().empty()) std::abort();
  }
  return 0;
}
