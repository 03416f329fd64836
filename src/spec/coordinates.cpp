#include "spec/coordinates.hpp"

#include <cstddef>
#include <string>

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Regex.h>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

void check_coordinates(std::string_view expression, std::uint32_t rank, std::string_view subject,
                       std::string_view source, Violations& violations) {
  if (expression.find('[') == std::string_view::npos) return;  // saves the slow regular expression
  const llvm::Regex pattern("(^|[^A-Za-z0-9_])(([gt]) *\\[ *(-? *[0-9]+)[uUlL]* *\\])");
  llvm::SmallVector<llvm::StringRef> parts;
  for (llvm::StringRef rest(expression); pattern.match(rest, &parts);) {
    std::uint32_t dimension = 0;
    if (parts[4].getAsInteger(10, dimension) || dimension >= rank) {
      const std::string word = parts[3].str();
      violations.add({.rule = "expression.coordinate",
                      .subject = std::string(subject),
                      .found = parts[2].str(),
                      .need = rank == 0 ? "no coordinates, since the destination has no dimensions"
                                        : fmt::format("{0}[0] to {0}[{1}], the dimensions of the destination",
                                                      word, rank - 1),
                      .legal = rank == 0 ? "0" : fmt::format("{}[{}]", word, rank - 1),
                      .source = std::string(source)});
      return;
    }
    rest = rest.drop_front(static_cast<std::size_t>(parts[2].end() - rest.begin()));
  }
}

TMAJIT_END
