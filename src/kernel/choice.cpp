#include "kernel/choice.hpp"

#include <tmajit/error.hpp>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

const KernelChoice::Number& find(const KernelChoice& choice, std::string_view name, bool is_box) {
  std::vector<std::string_view> names;
  for (const KernelChoice::Number& number : choice.numbers) {
    if (number.is_box != is_box) continue;
    if (number.name == name) return number;
    names.push_back(number.name);
  }
  throw Error(ErrorCode::invalid_argument,
              fmt::format("a choice of the family \"{}\" has no {} \"{}\"; it has {}", choice.family,
                          is_box ? "box" : "number", name,
                          names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

}  // namespace

std::uint32_t KernelChoice::number(std::string_view name) const {
  return find(*this, name, false).values[0];
}

std::span<const std::uint32_t> KernelChoice::box(std::string_view name) const {
  const Number& box = find(*this, name, true);
  std::size_t rank = box.values.size();
  while (rank > 0 && box.values[rank - 1] == 0) --rank;
  return std::span(box.values).first(rank);
}

std::string box_text(const PerDimension& box) {
  return fmt::format("{}", fmt::join(box.begin(), std::ranges::find(box, 0U), "x"));
}

TMAJIT_END
