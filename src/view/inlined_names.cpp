#include "view/inlined_names.hpp"

#include "check/kernel_name.hpp"

#include <utility>
#include <variant>

TMAJIT_BEGIN
namespace view {
namespace {

/// The strings in a module's section .debug_str, by label.
std::map<std::string, std::string> strings_of(const ptx::Module& module) {
  std::map<std::string, std::string> strings;
  for (const auto& directive : module.directives) {
    const auto* const section = std::get_if<ptx::Section>(&directive);
    if (section == nullptr || section->name != ".debug_str") continue;
    std::string* current = nullptr;
    for (const ptx::SectionLine& line : section->lines) {
      if (!line.label.empty()) current = &strings[line.label];
      for (const ptx::SectionValue& value : line.values) {
        // A label's string ends at its first zero.
        if (value.value == 0) current = nullptr;
        if (current != nullptr) *current += static_cast<char>(value.value);
      }
    }
  }
  return strings;
}

}  // namespace

InlinedNames::InlinedNames(const ptx::Module& module) {
  std::map<std::uint64_t, std::string> paths;
  for (const auto& directive : module.directives) {
    if (const auto* const file = std::get_if<ptx::File>(&directive)) paths.emplace(file->index, file->name);
  }
  const auto strings = strings_of(module);
  for (const auto& directive : module.directives) {
    const auto* const function = std::get_if<ptx::Function>(&directive);
    if (function != nullptr && function->body) read(*function->body, paths, strings);
  }
}

void InlinedNames::read(const ptx::Block& block, const std::map<std::uint64_t, std::string>& paths,
                        const std::map<std::string, std::string>& strings) {
  const auto path_of = [&](std::uint64_t file) {
    const auto path = paths.find(file);
    return path == paths.end() ? std::string() : path->second;
  };
  for (const ptx::Statement& statement : block.statements) {
    if (const auto* const inner = std::get_if<ptx::Block>(&statement.node)) read(*inner, paths, strings);
    const auto* const mark = std::get_if<ptx::LineMark>(&statement.node);
    if (mark == nullptr || !mark->inlined) continue;
    const auto symbol = strings.find(mark->inlined->function);
    if (symbol == strings.end()) continue;
    const Position call{path_of(mark->inlined->file), mark->inlined->line, mark->inlined->column};
    names_.emplace(std::pair{Position{path_of(mark->file), mark->line, mark->column}, call},
                   check::shown_name(symbol->second));
  }
}

std::string InlinedNames::name_of(const ptx::FlatFunction& function, std::uint32_t frame) const {
  const auto position_of = [&](std::uint32_t index) {
    const ptx::SourceFrame& at = function.frames[index];
    return Position{std::string(at.at.path), at.at.line, at.column};
  };
  const std::uint32_t caller = function.frames[frame].caller;
  if (caller == ptx::SourceFrame::none) return {};
  const auto name = names_.find({position_of(frame), position_of(caller)});
  return name == names_.end() ? std::string() : name->second;
}

}  // namespace view
TMAJIT_END
