#pragma once

#include "operations/entry.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

TMAJIT_BEGIN

/// The facts on which the steps of a recipe depend, besides its name.
struct RecipeFacts {
  std::size_t source_count = 0;
  ElementType to = ElementType::e4m3;  ///< type of quantised elements
};

/// A row of the table of recipes.
struct RecipeRow {
  OperationInfo info;
  double eps = 0;  ///< the default of the argument eps
  /// The steps. Sources are x0 …, destinations y0 …; an operand that is split in halves has two numbers.
  /// `@` after a number or a function's name stands for the suffix f, or for nothing if a source is f64. EXP
  /// stands for exp@, or for fast_exp if all floating-point sources have at most 2 bytes. p0 is the argument
  /// eps, a number of the launch.
  std::string (*steps)(const RecipeFacts& facts) = nullptr;
};

/// Dense views of the first `count` sources of a call, whose rows have the shape and the type of `rows`.
/// Throws Error{invalid_argument} for an illegal shape or argument, as the next two functions do.
[[nodiscard]] std::vector<TensorView> recipe_sources(const RecipeRow& row, const TensorView& rows,
                                                     std::size_t count, const Arguments& given);
/// Dense views of the destinations that these sources need.
[[nodiscard]] std::vector<TensorView> recipe_destinations(const RecipeRow& row,
                                                          std::span<const TensorView> sources,
                                                          const Arguments& given);
/// The rowwise operation of a call, whose destinations and sources are those of the call.
[[nodiscard]] Operation make_recipe(const RecipeRow& row, std::span<const Tensor> destinations,
                                    std::span<const Tensor> sources, const Arguments& given);

TMAJIT_END
