#pragma once

#include <tmajit/tuning.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

TMAJIT_BEGIN

/// A choice that is shipped with the library. `numbers` follow Family::choice_fields(): a row for each field,
/// with one value, or for a box one for each dimension.
struct ShippedChoice {
  static constexpr std::size_t max_numbers = 5;
  ShapeClass shape_class;
  struct {
    std::string_view family;
    std::uint32_t numbers[max_numbers][max_view_rank];
  } kernel;
  double microseconds = 0;
};

/// The shipped choices of one chip, ordered by shape.
struct ShippedChoices {
  std::string_view chip;
  std::span<const ShippedChoice> choices;
};

[[nodiscard]] std::span<const ShippedChoice> h100_choices() noexcept;
[[nodiscard]] std::span<const ShippedChoice> h200_choices() noexcept;
/// Those of all chips.
[[nodiscard]] std::span<const ShippedChoices> shipped_choices() noexcept;
[[nodiscard]] KernelChoice kernel_choice(const ShippedChoice& shipped);

TMAJIT_END
