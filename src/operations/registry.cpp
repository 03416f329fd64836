#include "operations/entry.hpp"
#include "operations/shared/make.hpp"
#include "spec/counted.hpp"
#include "spec/enum_names.hpp"
#include "spec/suggestion.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

#define TMAJIT_ENTRY(name) &name##_entry,
constexpr std::array entries{TMAJIT_FOR_EACH_OPERATION(TMAJIT_ENTRY)};
#undef TMAJIT_ENTRY

constexpr EnumNames<OperandShape, 9> shape_names{
    "shape of an operand",
    {"rows", "row", "block", "axis", "tile", "tensor", "halves", "half", "rows_or_halves"}};
constexpr EnumNames<OperandElements, 5> element_names{
    "elements of an operand", {"floating", "any", "statistic", "integer", "quantised"}};

const OperationEntry& entry_of(std::string_view name) {
  const auto* const found =
      std::ranges::find(entries, name, [](const OperationEntry* entry) { return entry->info.name; });
  if (found != entries.end()) return **found;
  std::vector<std::string_view> names;
  names.reserve(entries.size());
  for (const OperationEntry* entry : entries) names.push_back(entry->info.name);
  refuse("there is no operation \"{}\"{}; operations are {}", name, suggestion(name, names),
         fmt::join(names, ", "));
}

void check_sources(const OperationInfo& info, std::size_t count) {
  if (count >= info.min_sources && count <= info.max_sources) return;
  std::string legal = counted(info.min_sources, "source");
  if (info.max_sources == std::numeric_limits<std::uint32_t>::max()) {
    legal += " or more";
  } else if (info.min_sources != info.max_sources) {
    legal = fmt::format("{} to {} sources", info.min_sources, info.max_sources);
  }
  refuse("{} takes {}, but {} given", info.name, legal,
         count == 1 ? std::string("1 is") : fmt::format("{} are", count));
}

void check_arguments(const OperationInfo& info, const Arguments& arguments) {
  for (const auto& [name, value] : arguments.all()) {
    if (info.find_argument(name) != nullptr) continue;
    std::vector<std::string_view> names;
    for (const Argument& one : info.arguments) names.push_back(one.name);
    refuse("{} takes no argument \"{}\"{}; it takes {}", info.name, name, suggestion(name, names),
           names.empty() ? "none" : fmt::to_string(fmt::join(names, ", ")));
  }
  for (const Argument& one : info.arguments) {
    if (one.required && !arguments.has(one.name))
      refuse("{} needs {}, {}: {}", info.name, one.name, one.sentence, one.example);
  }
}

}  // namespace

std::string_view name(OperandShape shape) noexcept {
  return shape_names.of(shape);
}
std::string_view name(OperandElements elements) noexcept {
  return element_names.of(elements);
}

std::span<const OperationInfo> operations() noexcept {
  static const auto infos = [] {
    std::array<OperationInfo, entries.size()> found;
    for (std::size_t i = 0; i < entries.size(); ++i) found[i] = entries[i]->info;
    return found;
  }();
  return infos;
}

const OperationInfo& find_operation(std::string_view name) {
  return entry_of(name).info;
}

bool OperationInfo::has_many_destinations() const noexcept {
  return is_batch || several_destinations ||
         std::ranges::find(arguments, ArgumentType::parts, &Argument::type) != arguments.end();
}

const Argument* OperationInfo::find_argument(std::string_view wanted) const noexcept {
  const auto found = std::ranges::find(arguments, wanted, &Argument::name);
  return found == arguments.end() ? nullptr : &*found;
}

std::vector<TensorView> destinations_of(std::string_view operation, std::span<const TensorView> sources,
                                        const Arguments& arguments) {
  const OperationEntry& entry = entry_of(operation);
  check_sources(entry.info, sources.size());
  check_arguments(entry.info, arguments);
  return entry.destinations(sources, arguments);
}

std::vector<TensorView> sources_of(std::string_view operation, const TensorView& rows, std::size_t count,
                                   const Arguments& arguments) {
  const OperationEntry& entry = entry_of(operation);
  if (entry.sources == nullptr) refuse("{} is no recipe: the shapes of its sources are free", operation);
  check_sources(entry.info, count);
  check_arguments(entry.info, arguments);
  return entry.sources(rows, count, arguments);
}

Operation make_operation(std::string_view operation, List<Tensor> destinations, List<Tensor> sources,
                         const Arguments& arguments) {
  const OperationEntry& entry = entry_of(operation);
  check_sources(entry.info, sources.size());
  check_arguments(entry.info, arguments);
  if (destinations.empty()) refuse("{} needs a destination", operation);
  return entry.make(destinations, sources, arguments);
}

TMAJIT_END
