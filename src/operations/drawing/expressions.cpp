#include "operations/drawing/expressions.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

/// An expression of the benchmark's maps. In its name, a, b and c are the sources; in its text they are x0,
/// x1 and x2, or x if there is only one.
struct Expression {
  std::string_view name;  ///< the benchmark's Python scripts use the same names for other libraries
  std::string_view text;  ///< the expression that tmajit compiles; empty for a cast, which needs none
  std::string_view text_for_f64 = text;  ///< the expression for elements of f64
};

// The approximate __expf and __fdividef are used in SiLU because compilers that the benchmark compares with
// use approximations, too. "normalise" is the usual preparation of images for a neural network: it scales
// bytes to 0 … 1, subtracts a mean, and divides by a standard deviation.
constexpr std::array expressions{Expression{"cast", ""},
                                 Expression{"2a+1", "x * 2 + 1"},
                                 Expression{"a+b", "x0 + x1"},
                                 Expression{"a+b+c", "x0 + x1 + x2"},
                                 Expression{"3", "3"},
                                 Expression{"a", "x"},
                                 Expression{"100a", "x * 100"},
                                 Expression{"2.5a", "x * 2.5f"},
                                 Expression{"silu(a)*b+1", "__fdividef(x0, 1.0f + __expf(-x0)) * x1 + 1.0f",
                                            "x0 / (1.0 + exp(-x0)) * x1 + 1.0"},
                                 Expression{"normalise", "(x * (1.0f / 255.0f) - 0.45f) * (1.0f / 0.225f)"}};

}  // namespace

std::string expression_text(std::string_view name, tmajit::ElementType type) {
  const auto* const expression = std::ranges::find(expressions, name, &Expression::name);
  if (expression == expressions.end())
    throw tmajit::Error(tmajit::ErrorCode::internal, fmt::format("no expression is called '{}'", name));
  return std::string(type == tmajit::ElementType::f64 ? expression->text_for_f64 : expression->text);
}

Case map_or_cast(std::string group, std::string name, std::string expression_name, std::vector<Array> sources,
                 Array destination) {
  Case result{.group = std::move(group), .name = std::move(name)};
  const tmajit::ElementType type = sources.empty() ? destination.type : sources.front().type;
  const std::string text = expression_text(expression_name, type);
  result.operation = text.empty() ? "cast" : "map";
  if (!text.empty()) result.arguments.set("expression", text);
  result.sources = std::move(sources);
  result.destinations = {std::move(destination)};
  result.expression = std::move(expression_name);
  return result;
}

}  // namespace bench
