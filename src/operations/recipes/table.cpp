#include "operations/recipes/recipe.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <string_view>

TMAJIT_BEGIN
namespace {

using enum OperandShape;
using enum OperandElements;

// Arguments

constexpr Argument axis_argument{.name = "axis",
                                 .option = "--axis",
                                 .type = ArgumentType::axis,
                                 .fallback = "the last one",
                                 .sentence = "the dimension of a row",
                                 .example = "0"};

constexpr Argument eps_argument(std::string_view fallback) {
  return {.name = "eps",
          .option = "--eps",
          .type = ArgumentType::number,
          .fallback = fallback,
          .sentence = "the number that keeps divisors from 0",
          .example = "1e-5"};
}

constexpr Argument block_argument{
    .name = "block",
    .option = "--block",
    .type = ArgumentType::count,
    .fallback = "0, the whole row",
    .sentence = "the number of neighbouring elements of a row that share a scale, a divisor of its length",
    .example = "128"};

constexpr Argument tile_argument{.name = "block",
                                 .option = "--block",
                                 .type = ArgumentType::count,
                                 .fallback = "128",
                                 .sentence = "the rows and columns of a block, a divisor of the extents",
                                 .example = "64"};

constexpr std::array<std::string_view, 3> quantised_types{"e4m3", "e5m2", "i8"};
constexpr Argument to_argument{.name = "to",
                               .option = "--to",
                               .type = ArgumentType::choice,
                               .fallback = "the destination's type, else e4m3",
                               .sentence = "the type of the quantised elements",
                               .example = "i8",
                               .choices = quantised_types};

constexpr std::array<std::string_view, 2> rotary_layouts{"halves", "pairs"};
constexpr Argument layout_argument{
    .name = "layout",
    .option = "--rotary-layout",
    .type = ArgumentType::choice,
    .fallback = "halves",
    .sentence = "which two elements of a row turn together: i and i + half of the row, or 2 i and 2 i + 1",
    .example = "pairs",
    .choices = rotary_layouts};

constexpr std::array axis_alone{axis_argument};
constexpr std::array axis_and_rms_eps{axis_argument, eps_argument("1e-6")};
constexpr std::array axis_and_layer_eps{axis_argument, eps_argument("1e-5")};
constexpr std::array axis_and_l2_eps{axis_argument, eps_argument("1e-12")};
constexpr std::array axis_and_block{axis_argument, block_argument};
constexpr std::array quantize_arguments{axis_argument, block_argument, to_argument};
constexpr std::array quantize_tile_arguments{tile_argument, to_argument};
constexpr std::array only_tile{tile_argument};
constexpr std::array only_to{to_argument};
constexpr std::array rotary_arguments{axis_argument, layout_argument};

// Operands

constexpr OperandInfo dy{"dy"};
constexpr OperandInfo x{"x"};
constexpr OperandInfo y{"y"};
constexpr OperandInfo dx{"dx"};
constexpr OperandInfo weight{.name = "weight", .shape = OperandShape::axis, .required = false};
constexpr OperandInfo bias{.name = "bias", .shape = OperandShape::axis, .required = false};
constexpr OperandInfo logits{"logits"};
constexpr OperandInfo dlogits{"dlogits"};
constexpr OperandInfo labels{"labels", row, integer};
constexpr OperandInfo loss{"loss", row, statistic};
constexpr OperandInfo quantised_rows{"q", rows, quantised};
constexpr OperandInfo scale{"scale", block, statistic};

constexpr std::array only_x{x};
constexpr std::array only_y{y};
constexpr std::array only_dx{dx};
constexpr std::array dy_y{dy, y};
constexpr std::array row_statistic{OperandInfo{"y", row, statistic}};
constexpr std::array x_weight{x, weight};
constexpr std::array dy_x_weight{dy, x, weight};
constexpr std::array x_residual_weight{x, OperandInfo{"residual"}, weight};
constexpr std::array y_sum{y, OperandInfo{"sum"}};
constexpr std::array x_weight_bias{x, weight, bias};
constexpr std::array logits_labels{logits, labels};
constexpr std::array only_loss{loss};
constexpr std::array loss_dlogits{loss, dlogits};
constexpr std::array dloss_logits_labels{OperandInfo{"dloss", row, statistic}, logits, labels};
constexpr std::array only_dlogits{dlogits};
constexpr std::array any_x{OperandInfo{"x", rows, any}};
constexpr std::array y_index{OperandInfo{"y", row, any}, OperandInfo{"index", row, integer}};
constexpr std::array q_scale{quantised_rows, scale};
constexpr std::array q_tile_scale{quantised_rows, OperandInfo{"scale", tile, statistic}};
constexpr std::array q_tensor_scale{quantised_rows, OperandInfo{"scale", tensor, statistic}};
constexpr std::array dequantised{OperandInfo{"y", rows, statistic}};
constexpr std::array a_b{OperandInfo{"a", rows_or_halves}, OperandInfo{.name = "b", .required = false}};
constexpr std::array dy_a_b{dy, OperandInfo{"a", rows_or_halves},
                            OperandInfo{.name = "b", .required = false}};
constexpr std::array da_db{OperandInfo{"da", rows_or_halves}, OperandInfo{.name = "db", .required = false}};
constexpr std::array x_cos_sin{OperandInfo{"x", halves}, OperandInfo{"cos", half}, OperandInfo{"sin", half}};
constexpr std::array turned_y{OperandInfo{"y", halves}};

// Steps

using Facts = RecipeFacts;

/// " * x2" for source 2; empty if that optional source is not given.
std::string times(const Facts& facts, std::size_t source) {
  return facts.source_count > source ? " * x" + std::to_string(source) : std::string();
}

std::string softmax_steps(const Facts& /*facts*/) {
  return "m = max(x0); e = EXP(x0 - m); r = 1.0@ / sum(e); y0 = e * r";
}
std::string softmax_backward_steps(const Facts& /*facts*/) {
  return "y0 = x1 * (x0 - sum(x0 * x1))";
}
std::string log_softmax_steps(const Facts& /*facts*/) {
  return "m = max(x0); c = x0 - m; y0 = c - log@(sum(EXP(c)))";
}
std::string log_softmax_backward_steps(const Facts& /*facts*/) {
  return "y0 = x0 - EXP(x1) * sum(x0)";
}
/// A maximum that is infinite or NaN is the result: the sum is NaN then, as ∞ − ∞ is.
std::string logsumexp_steps(const Facts& /*facts*/) {
  return "m = max(x0); s = sum(EXP(x0 - m)); y0 = m - m == 0 ? log@(s) + m : m";
}
std::string rms_norm_steps(const Facts& facts) {
  return "r = rsqrt@(mean(x0 * x0) + p0); y0 = x0 * r" + times(facts, 1);
}
std::string rms_norm_backward_steps(const Facts& facts) {
  return "r = rsqrt@(mean(x1 * x1) + p0); g = x0" + times(facts, 2) +
         "; c = mean(g * x1) * r * r; y0 = r * (g - x1 * c)";
}
std::string add_rms_norm_steps(const Facts& facts) {
  return "y1 = x0 + x1; r = rsqrt@(mean(y1 * y1) + p0); y0 = y1 * r" + times(facts, 2);
}
std::string layer_norm_steps(const Facts& facts) {
  return "u = mean(x0); c = x0 - u; r = rsqrt@(mean(c * c) + p0); y0 = c * r" + times(facts, 1) +
         (facts.source_count > 2 ? " + x2" : "");
}
std::string layer_norm_backward_steps(const Facts& facts) {
  return "u = mean(x1); c = x1 - u; r = rsqrt@(mean(c * c) + p0); h = c * r; g = x0" + times(facts, 2) +
         "; p = mean(g); q = mean(g * h); y0 = r * (g - p - h * q)";
}
/// fmax would drop a NaN; the conditional expression propagates it.
std::string l2_normalize_steps(const Facts& /*facts*/) {
  return "l = sqrt@(sum(x0 * x0)); r = 1.0@ / (l < p0 ? p0 : l); y0 = x0 * r";
}
/// The label of a row as an index, or -1 if it is out of range.
constexpr std::string_view label_steps = "t = max(LABELS); k = t < 0 ? -1 : t < n ? (int)t : -1; ";

std::string with_label(std::string_view source, std::string_view steps) {
  std::string text(label_steps);
  text.replace(text.find("LABELS"), 6, source);
  return text.append(steps);
}
std::string cross_entropy_steps(const Facts& /*facts*/) {
  return with_label("x1",
                    "m = max(x0); s = sum(EXP(x0 - m)); p = sum(k == i ? x0 : 0.0@); "
                    "y0 = k < 0 ? 0.0@ : log@(s) + m - p");
}
std::string cross_entropy_with_gradient_steps(const Facts& /*facts*/) {
  return with_label("x1",
                    "m = max(x0); e = EXP(x0 - m); s = sum(e); p = sum(k == i ? x0 : 0.0@); "
                    "y0 = k < 0 ? 0.0@ : log@(s) + m - p; r = k < 0 ? 0.0@ : 1.0@ / s; "
                    "y1 = e * r - (k == i ? 1.0@ : 0.0@)");
}
std::string cross_entropy_backward_steps(const Facts& /*facts*/) {
  return with_label("x2",
                    "m = max(x1); e = EXP(x1 - m); s = sum(e); r = k < 0 ? 0.0@ : 1.0@ / s; "
                    "y0 = x0 * (e * r - (k == i ? 1.0@ : 0.0@))");
}
std::string max_with_index_steps(const Facts& /*facts*/) {
  return "y0 = max(x0); y1 = arg_max(x0)";
}
/// Rows whose magnitudes are below 1e-30 become zeros with the scale 1: the inverse of a tiny scale could
/// overflow.
std::string quantize_steps(const Facts& facts) {
  const std::string_view most = facts.to == ElementType::e4m3   ? "448.0@"
                                : facts.to == ElementType::e5m2 ? "57344.0@"
                                                                : "127.0@";
  const std::string value = facts.to == ElementType::i8 ? "rint@(x0 * r)" : "x0 * r";
  return "a = max(fabs@(x0)); y1 = a < 1e-30@ ? 1.0@ : a / " + std::string(most) +
         "; r = 1.0@ / y1; y0 = " + value;
}
std::string dequantize_steps(const Facts& /*facts*/) {
  return "y0 = x0 * x1";
}
std::string swiglu_steps(const Facts& /*facts*/) {
  return "y0 = x0 / (1.0@ + EXP(-x0)) * x1";
}
std::string swiglu_backward_steps(const Facts& /*facts*/) {
  return "s = 1.0@ / (1.0@ + EXP(-x1)); y0 = x0 * x2 * s * (1.0@ + x1 * (1.0@ - s)); y1 = x0 * x1 * s";
}
std::string rotary_steps(const Facts& /*facts*/) {
  return "y0 = x0 * x2 - x1 * x3; y1 = x1 * x2 + x0 * x3";
}

// The table

struct Row {
  std::string_view name;
  std::string_view summary;
  std::span<const OperandInfo> sources;
  std::span<const Argument> arguments;
  std::span<const OperandInfo> destinations;
  std::string (*steps)(const Facts& facts);
  double eps = 0;
};

constexpr Row rows_of_table[] = {
    {"softmax", "computes the softmax of rows", only_x, axis_alone, only_y, softmax_steps},
    {"softmax_backward", "computes the gradient of a softmax from its result y", dy_y, axis_alone, only_dx,
     softmax_backward_steps},
    {"log_softmax", "computes the logarithm of the softmax of rows", only_x, axis_alone, only_y,
     log_softmax_steps},
    {"log_softmax_backward", "computes the gradient of a log_softmax from its result y", dy_y, axis_alone,
     only_dx, log_softmax_backward_steps},
    {"logsumexp", "computes the logarithm of the sum of a row's exponentials", only_x, axis_alone,
     row_statistic, logsumexp_steps},
    {"rms_norm", "divides rows by the root of their mean square, and multiplies by weights", x_weight,
     axis_and_rms_eps, only_y, rms_norm_steps, 1e-6},
    {"rms_norm_backward", "computes the gradient of rms_norm for x", dy_x_weight, axis_and_rms_eps, only_dx,
     rms_norm_backward_steps, 1e-6},
    {"add_rms_norm", "computes rms_norm of x + residual, and the sum, too", x_residual_weight,
     axis_and_rms_eps, y_sum, add_rms_norm_steps, 1e-6},
    {"layer_norm", "subtracts rows' means, divides by their standard deviations, applies weights and a bias",
     x_weight_bias, axis_and_layer_eps, only_y, layer_norm_steps, 1e-5},
    {"layer_norm_backward", "computes the gradient of layer_norm for x", dy_x_weight, axis_and_layer_eps,
     only_dx, layer_norm_backward_steps, 1e-5},
    {"l2_normalize", "divides rows by their Euclidean norm, or by eps if that is greater", only_x,
     axis_and_l2_eps, only_y, l2_normalize_steps, 1e-12},
    {"cross_entropy", "computes the cross-entropy of rows of logits with labels", logits_labels, axis_alone,
     only_loss, cross_entropy_steps},
    {"cross_entropy_with_gradient", "computes cross_entropy and the gradient of each loss for its logits",
     logits_labels, axis_alone, loss_dlogits, cross_entropy_with_gradient_steps},
    {"cross_entropy_backward", "computes the gradient of cross_entropy for the logits", dloss_logits_labels,
     axis_alone, only_dlogits, cross_entropy_backward_steps},
    {"max_with_index", "finds the greatest element of each row and its first index", any_x, axis_alone,
     y_index, max_with_index_steps},
    {"quantize_rows", "converts rows, or blocks of them, to 8 bits with a scale each", only_x,
     quantize_arguments, q_scale, quantize_steps},
    {"dequantize_rows", "multiplies rows, or blocks of them, by their scales", q_scale, axis_and_block,
     dequantised, dequantize_steps},
    {"quantize_blocks", "converts square blocks of matrices to 8 bits with a scale each", only_x,
     quantize_tile_arguments, q_tile_scale, quantize_steps},
    {"dequantize_blocks", "multiplies square blocks of matrices by their scales", q_tile_scale, only_tile,
     dequantised, dequantize_steps},
    {"quantize_tensor", "converts a tensor to 8 bits with one scale", only_x, only_to, q_tensor_scale,
     quantize_steps},
    {"dequantize_tensor",
     "multiplies a tensor by its scale",
     q_tensor_scale,
     {},
     dequantised,
     dequantize_steps},
    {"swiglu", "computes silu(a) * b; without b, a holds both in two halves", a_b, axis_alone, only_y,
     swiglu_steps},
    {"swiglu_backward", "computes the gradients of swiglu; without b, of a that holds both", dy_a_b,
     axis_alone, da_db, swiglu_backward_steps},
    {"rotary", "turns pairs of a row's elements by angles, whose cosines and sines are given", x_cos_sin,
     rotary_arguments, turned_y, rotary_steps},
};

constexpr std::uint32_t required_of(std::span<const OperandInfo> operands) {
  return static_cast<std::uint32_t>(std::ranges::count_if(operands, &OperandInfo::required));
}

constexpr RecipeRow made(const Row& row) {
  return {.info = {.name = row.name,
                   .summary = row.summary,
                   .arguments = row.arguments,
                   .min_sources = required_of(row.sources),
                   .max_sources = static_cast<std::uint32_t>(row.sources.size()),
                   .several_destinations = row.destinations.size() > 1,
                   .sources = row.sources,
                   .destinations = row.destinations},
          .eps = row.eps,
          .steps = row.steps};
}

template <std::size_t number>
constexpr RecipeRow recipe = made(rows_of_table[number]);

/// The number of the row with that name. An unknown name does not compile.
consteval std::size_t row_named(std::string_view name) {
  std::size_t number = 0;
  while (rows_of_table[number].name != name) ++number;
  return number;
}

template <std::size_t number>
constexpr OperationEntry entry_of_row{
    .info = recipe<number>.info,
    .destinations =
        [](std::span<const TensorView> sources, const Arguments& given) {
          return recipe_destinations(recipe<number>, sources, given);
        },
    .make = [](std::span<const Tensor> to, std::span<const Tensor> from,
               const Arguments& given) { return make_recipe(recipe<number>, to, from, given); },
    .sources = [](const TensorView& shape, std::size_t count,
                  const Arguments& given) { return recipe_sources(recipe<number>, shape, count, given); }};

}  // namespace

#define TMAJIT_ENTRY_OF_RECIPE(name) const OperationEntry name##_entry = entry_of_row<row_named(#name)>;
TMAJIT_FOR_EACH_RECIPE(TMAJIT_ENTRY_OF_RECIPE)
#undef TMAJIT_ENTRY_OF_RECIPE

TMAJIT_END
