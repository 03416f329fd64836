#include "codegen/templates.hpp"

#include <tmajit/codegen.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>

TMAJIT_BEGIN
namespace {

/// The folder whose templates are used in place of the embedded ones; empty if there is none.
std::string_view template_folder() {
  const char* folder = std::getenv("TMAJIT_TEMPLATES");
  return folder == nullptr ? std::string_view() : folder;
}

}  // namespace

std::string_view generator_id() {
  return template_folder().empty() ? embedded_generator_id() : std::string_view();
}

std::string template_text(std::string_view path) {
  if (const std::string_view folder = template_folder(); !folder.empty()) {
    if (std::ifstream file(std::string(folder) + "/" + std::string(path), std::ios::binary); file) {
      return {std::istreambuf_iterator<char>(file), {}};
    }
  }
  for (const EmbeddedFile& file : embedded_templates()) {
    if (file.path == path) return std::string(file.text);
  }
  return {};
}

TMAJIT_END
