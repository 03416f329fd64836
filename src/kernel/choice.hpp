#pragma once

#include "kernel/facts_text.hpp"

#include <tmajit/kernel_plan.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

TMAJIT_BEGIN

// Each family describes its choice by a plain struct: numbers, maybe boxes, text(), and members(), which
// names each of them once. The public KernelChoice, JSON, parsing and distances between choices follow from
// members().

/// One number of a choice, or one for each dimension of a box.
struct ChoiceField {
  std::string_view name;
  bool is_box = false;
  /// The number depends on the problem's extents. A tuned choice also selects a kernel whose number is within
  /// a factor of two (nearest() in plan/candidates.hpp).
  bool follows_extents = false;
  std::uint32_t max_value = std::numeric_limits<std::uint32_t>::max();
};

template <class Choice>
struct ChoiceMember {
  ChoiceField field;
  std::uint32_t Choice::*number = nullptr;
  PerDimension Choice::*box = nullptr;
};
template <class Choice>
[[nodiscard]] constexpr ChoiceMember<Choice> choice_number(
    std::string_view name, std::uint32_t Choice::*number,
    std::uint32_t max_value = std::numeric_limits<std::uint32_t>::max()) {
  return {.field = {.name = name, .max_value = max_value}, .number = number};
}
/// A number that depends on the problem's extents, such as the side of a tile.
template <class Choice>
[[nodiscard]] constexpr ChoiceMember<Choice> choice_side(std::string_view name,
                                                         std::uint32_t Choice::*number) {
  return {.field = {.name = name, .follows_extents = true}, .number = number};
}
template <class Choice>
[[nodiscard]] constexpr ChoiceMember<Choice> choice_box(std::string_view name, PerDimension Choice::*box) {
  return {.field = {.name = name, .is_box = true, .follows_extents = true}, .box = box};
}

template <class Choice>
[[nodiscard]] constexpr auto choice_fields() {
  constexpr auto members = Choice::members();
  std::array<ChoiceField, members.size()> fields{};
  for (std::size_t i = 0; i < fields.size(); ++i) fields[i] = members[i].field;
  return fields;
}

template <class Choice>
[[nodiscard]] KernelChoice kernel_choice(std::string_view family, const Choice& choice) {
  KernelChoice out{.family = family};
  out.numbers.reserve(Choice::members().size());
  for (const auto& [field, number, box] : Choice::members()) {
    auto& added = out.numbers.emplace_back(KernelChoice::Number{.name = field.name, .is_box = field.is_box});
    if (field.is_box)
      added.values = choice.*box;
    else
      added.values[0] = choice.*number;
  }
  return out;
}

/// The typed form of a choice. Throws Error{invalid_argument} if the choice lacks a number.
template <class Choice>
[[nodiscard]] Choice typed_choice(const KernelChoice& choice) {
  Choice typed;
  for (const auto& [field, number, box] : Choice::members()) {
    if (field.is_box)
      std::ranges::copy(choice.box(field.name), (typed.*box).begin());
    else
      typed.*number = choice.number(field.name);
  }
  return typed;
}

/// Formats a box: "64x64".
[[nodiscard]] std::string box_text(const PerDimension& box);

TMAJIT_END
