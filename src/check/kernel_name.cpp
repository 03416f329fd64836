#include "check/kernel_name.hpp"

#include <llvm/Demangle/Demangle.h>

TMAJIT_BEGIN
namespace check {

std::string shown_name(std::string_view symbol) {
  constexpr std::size_t most = 120;
  const std::string mangled(symbol);
  std::string name = llvm::demangle(mangled);
  if (name == mangled) return name;
  // A template's begins with the type that it returns.
  if (name.starts_with("void ")) name.erase(0, 5);
  if (name.size() <= most) return name;
  const std::size_t end = name.find_first_of("<(");
  if (end == std::string::npos) return name;  // a variable's symbol, which an entry may have
  return name.substr(0, end) + (name[end] == '<' ? "<…>" : "(…)");
}

}  // namespace check
TMAJIT_END
