#include "fusion/expression_text.hpp"

#include "kernel/problem.hpp"
#include "spec/views.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// Whether the text before a name makes it the name of a member.
bool is_member(std::string_view before) noexcept {
  while (before.ends_with(' ')) before.remove_suffix(1);
  return before.ends_with('.') || before.ends_with("::") || before.ends_with("->");
}

}  // namespace

std::string renamed(std::string_view text, const Renames& names) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end == at) {
      out += text[at++];
      continue;
    }
    const std::string_view word = text.substr(at, end - at);
    const auto found = is_member(text.substr(0, at)) ? names.end() : names.find(word);
    out += found == names.end() ? word : std::string_view(found->second);
    at = end;
  }
  return out;
}

std::string stored(ElementType type, std::string_view expression) {
  if (type == ElementType::f32_ftz) type = ElementType::f32;
  if (type == ElementType::tf32_ftz) type = ElementType::tf32;
  return fmt::format("as_{}({})", name(type), expression);
}

std::string unused_name(std::string_view text, std::string_view other) {
  for (std::uint32_t k = 0;; ++k) {
    std::string candidate = fmt::format("v{}", k);
    if (!reads(text, candidate) && !reads(other, candidate)) return candidate;
  }
}

std::size_t FusedSources::add(const Tensor& source) {
  const auto known = std::ranges::find(slots_, source, &Slot::source);
  if (!source.view.is_number && known != slots_.end())
    return static_cast<std::size_t>(known - slots_.begin());
  slots_.push_back({source, source.view.is_number ? numbers_++ : tensors_++});
  return slots_.size() - 1;
}

std::string FusedSources::name(std::size_t slot) const {
  const Slot& found = slots_[slot];
  if (found.source.view.is_number) return fmt::format("p{}", found.number);
  return tensors_ == 1 ? "x" : fmt::format("x{}", found.number);
}

Renames FusedSources::renames(const Slots& slots) const {
  std::vector<Tensor> sources;
  for (const std::size_t slot : slots) sources.push_back(slots_[slot].source);
  Renames names;
  for (std::size_t k = 0; k < slots.size(); ++k)
    for (const std::string& own : source_names(sources, k)) names.emplace(own, name(slots[k]));
  return names;
}

std::vector<Tensor> FusedSources::in_order() const {
  std::vector<Tensor> sources;
  for (const bool numbers : {false, true}) {
    for (const Slot& slot : slots_)
      if (slot.source.view.is_number == numbers) sources.push_back(slot.source);
  }
  return sources;
}

std::vector<std::string> source_names(std::span<const Tensor> sources, std::size_t k) {
  const std::size_t tensors = sources.size() - count_numbers(sources);
  if (k >= tensors) return {fmt::format("p{}", k - tensors)};
  std::vector<std::string> names{fmt::format("x{}", k)};
  if (tensors == 1) names.emplace_back("x");
  return names;
}

TMAJIT_END
