#include "operations/entry.hpp"
#include "operations/shared/result_types.hpp"
#include "operations/shared/shapes.hpp"

#include <tmajit/tile_options.hpp>

#include <array>

TMAJIT_BEGIN
namespace {

constexpr std::array<std::string_view, 4> scan_ops{"sum", "product", "min", "max"};
constexpr std::array<std::string_view, 2> bounds{"inclusive", "exclusive"};
constexpr std::array<std::string_view, 2> directions{"forwards", "backwards"};

constexpr std::array scan_arguments{
    Argument{.name = "op",
             .option = "--op",
             .type = ArgumentType::choice,
             .required = true,
             .sentence = "how an element is combined with those before it",
             .example = "sum",
             .choices = scan_ops},
    Argument{.name = "axis",
             .option = "--axis",
             .type = ArgumentType::axis,
             .fallback = "the last one",
             .sentence = "the dimension that is scanned",
             .example = "0"},
    Argument{.name = "bound",
             .option = "--bound",
             .type = ArgumentType::choice,
             .fallback = "inclusive",
             .sentence = "whether a result combines the elements up to its own, or only those before it",
             .example = "exclusive",
             .choices = bounds},
    Argument{.name = "direction",
             .option = "--direction",
             .type = ArgumentType::choice,
             .fallback = "forwards",
             .sentence = "the direction of the scan along the dimension",
             .example = "backwards",
             .choices = directions},
    Argument{.name = "expression",
             .option = "--expr",
             .fallback = "the source's elements",
             .sentence = "the C expression of x (or x0 … x7) and p0 … that is scanned",
             .example = "x*x"}};

}  // namespace

const OperationEntry scan_entry{
    .info = {.name = "scan",
             .summary = "computes cumulative sums, products, minima or maxima along a dimension",
             .arguments = scan_arguments,
             .max_sources = max_inputs,
             .takes_numbers = true},
    .destinations =
        [](std::span<const TensorView> sources, const Arguments& given) {
          const ScanOp op = parse<ScanOp>(given.text("op"));
          const ElementType value = value_type(given.text("expression"), sources);
          const bool accumulates = op == ScanOp::sum || op == ScanOp::product;
          return std::vector{
              TensorView::contiguous(accumulates ? sum_type(value) : value, common_shape(sources))};
        },
    .make =
        [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
          const Scan what{.op = parse<ScanOp>(given.text("op")),
                          .axis = given.axis("axis", -1),
                          .exclusive = given.text("bound") == "exclusive",
                          .reverse = given.text("direction") == "backwards",
                          .expression = std::string(given.text("expression"))};
          return operation::scan(to.front(), what, from);
        }};

TMAJIT_END
