#include "codegen/templates.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

TMAJIT_BEGIN

std::string template_text(std::string_view path) {
  if (const char* folder = std::getenv("TMAJIT_TEMPLATES"); folder != nullptr && *folder != '\0') {
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
