// Checks arbitrary text as an expression. The offset of a mistake must be within the text.
#include "compile/diagnostics.hpp"
#include "compile/expression.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

using namespace tmajit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto mistake = check_expression(text);
  if (mistake && (mistake->offset > size || mistake->message.empty())) std::abort();
  // A valid expression has no line break, so that it stays on its line of the generated source.
  if (!mistake && text.find_first_of("\n\r") != std::string_view::npos) std::abort();
  for (const auto offset : {std::size_t{0}, size / 2, size}) {
    const auto shown = excerpt(text, offset);
    if (shown.back() != '^' || std::count(shown.begin(), shown.end(), '\n') != 1) std::abort();
  }
  return 0;
}
