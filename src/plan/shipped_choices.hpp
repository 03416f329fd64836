#pragma once

#include <tmajit/tuning.hpp>

#include <span>
#include <string_view>

TMAJIT_BEGIN

/// A choice that comes with the library.
struct ShippedChoice {
  ShapeClass shape_class;
  KernelChoice choice;
  double microseconds = 0;
};

/// Those of one chip, ordered by class.
struct ShippedChoices {
  std::string_view chip;
  std::span<const ShippedChoice> choices;
};

[[nodiscard]] std::span<const ShippedChoices> shipped_choices() noexcept;

TMAJIT_END
