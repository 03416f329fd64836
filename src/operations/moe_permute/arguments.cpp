#include "kernel/moe_limits.hpp"
#include "operations/entry.hpp"
#include "operations/shared/make.hpp"
#include "spec/counted.hpp"
#include "spec/memory_rules.hpp"
#include "spec/saturate.hpp"
#include "spec/views.hpp"

#include <tmajit/tile_options.hpp>

#include <array>
#include <variant>
#include <vector>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::array moe_permute_arguments{
    Argument{.name = "count",
             .option = "--count",
             .type = ArgumentType::count,
             .required = true,
             .sentence = "the number of experts; ids from this number on and negative ones move nothing",
             .example = "2"},
    Argument{.name = "alignment",
             .option = "--alignment",
             .type = ArgumentType::count,
             .fallback = "1",
             .sentence = "the first row of each expert is a multiple of this number",
             .example = "128"}};

constexpr std::array<std::string_view, 2> moe_permute_sources{"x", "experts"};
constexpr std::array<std::string_view, 4> moe_permute_results{"rows", "positions", "counts", "offsets"};

std::uint64_t count_of(const Arguments& given) {
  return given.count("count");
}

MoePermute moe_permute_of(const Arguments& given) {
  return {.alignment = given.count("alignment", 1)};
}

std::vector<TensorView> moe_permute_destinations(std::span<const TensorView> sources,
                                                 const Arguments& given) {
  const auto x = extents(sources[0], "x");
  const auto ids = extents(sources[1], "experts");
  const std::uint64_t alignment = moe_permute_of(given).alignment;
  if (x.size() < 2 || ids.empty() || ids.size() > 2 || ids[0] != x[0]) {
    refuse("x of shape {} and experts of shape {}; legal are tokens x a row, and tokens x slots or tokens",
           shape_text(x), shape_text(ids));
  }
  if (alignment == 0) refuse("an alignment of 0 rows; legal are 1 to {}", max_moe_alignment);
  const std::uint64_t pairs = sat_mul(ids[0], ids.size() == 2 ? ids[1] : 1);
  const std::uint64_t count = count_of(given);
  if (count == 0 || count > max_moe_experts)
    refuse("{}; legal are 1 to {}", counted(count, "expert"), max_moe_experts);
  const std::uint64_t rows = moe_rows(pairs, count, alignment);
  if (rows > max_moe_rows) {
    refuse("up to {} rows, with those that an alignment of {} may add; the most is {}", rows, alignment,
           max_moe_rows);
  }
  std::vector<std::uint64_t> shape(x.begin(), x.end());
  shape[0] = rows;
  return {TensorView::contiguous(sources[0].type, shape), TensorView::contiguous(ElementType::i32, ids),
          TensorView::contiguous(ElementType::i32, {count}),
          TensorView::contiguous(ElementType::i32, {count + 1})};
}

}  // namespace

const OperationEntry moe_permute_entry{
    .info = {.name = "moe_permute",
             .summary = "sorts the rows of tokens by expert, stably, and says where they are",
             .arguments = moe_permute_arguments,
             .min_sources = 2,
             .max_sources = 2,
             .moves_bits = true,
             .several_destinations = true,
             .has_indices = true,
             .source_names = moe_permute_sources,
             .result_names = moe_permute_results},
    .destinations = moe_permute_destinations,
    .make = [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
      Operation operation = operation::moe_permute(to, from[0], from[1], moe_permute_of(given));
      const std::uint64_t experts = std::get<MoePermute>(operation.moves.front().body).experts;
      if (experts != count_of(given))
        refuse("counts of {} for {} experts; each expert needs one element", counted(experts, "element"),
               count_of(given));
      return operation;
    }};

TMAJIT_END
