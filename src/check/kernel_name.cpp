#include "check/kernel_name.hpp"

#include <llvm/Demangle/Demangle.h>

TMAJIT_BEGIN
namespace check {

std::string full_name(std::string_view symbol) {
  const std::string mangled(symbol);
  std::string name = llvm::demangle(mangled);
  // The demangled name of a template begins with its return type.
  if (name != mangled && name.starts_with("void ")) name.erase(0, 5);
  return name;
}

std::string shown_name(std::string_view symbol) {
  constexpr std::size_t max_characters = 120;
  std::string name = full_name(symbol);
  if (name.size() <= max_characters || name == symbol) return name;
  const std::size_t end = name.find_first_of("<(");
  if (end == std::string::npos) return name;  // an entry may have the mangled name of a variable
  return std::string(name, 0, end) + (name[end] == '<' ? "<…>" : "(…)");
}

}  // namespace check
TMAJIT_END
