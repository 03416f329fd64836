#include "plan/shipped_choices.hpp"

#include "families/list.hpp"

#include <algorithm>
#include <array>

TMAJIT_BEGIN

std::span<const ShippedChoices> shipped_choices() noexcept {
  static const std::array all{ShippedChoices{"NVIDIA H100 80GB HBM3", h100_choices()},
                              ShippedChoices{"NVIDIA H200", h200_choices()}};
  return all;
}

KernelChoice kernel_choice(const ShippedChoice& shipped) {
  KernelChoice choice{.family = shipped.kernel.family};
  const auto* values = shipped.kernel.numbers;
  for (const ChoiceField& field : family_named(choice.family).choice_fields()) {
    auto& number =
        choice.numbers.emplace_back(KernelChoice::Number{.name = field.name, .is_box = field.is_box});
    std::ranges::copy(*values++, number.values.begin());
  }
  return choice;
}

TMAJIT_END
