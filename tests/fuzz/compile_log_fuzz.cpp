// Explains an arbitrary compiler log. The first two zero bytes separate log, PTX and expression. The message
// must not be empty.
#include "compile/diagnostics.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

using namespace tmajit;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto next = [&] {
    const auto part = rest.substr(0, rest.find('\0'));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    return part;
  };
  const auto log = next();
  const auto ptx = next();
  const auto expression = rest;
  if (explain(log, ptx, "k", expression).empty()) std::abort();
  for (const auto& error : parse_log(log, ptx)) {
    if (error.excerpt && error.offset > error.excerpt->size() + log.size()) std::abort();
  }
  (void)parse_resources(log, "k");
  return 0;
}
