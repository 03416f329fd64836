#include "kernel/top_k_limits.hpp"
#include "operations/entry.hpp"
#include "operations/shared/make.hpp"
#include "spec/counted.hpp"
#include "spec/memory_rules.hpp"
#include "spec/refuse.hpp"
#include "spec/views.hpp"

#include <array>
#include <string_view>
#include <vector>

TMAJIT_BEGIN
namespace {

constexpr std::array<std::string_view, 3> index_choices{"i64", "i32", "no"};

constexpr std::array top_k_arguments{
    Argument{.name = "k",
             .option = "--k",
             .type = ArgumentType::count,
             .required = true,
             .sentence = "the number of elements that are taken from each row",
             .example = "2"},
    Argument{.name = "axis",
             .option = "--axis",
             .type = ArgumentType::axis,
             .fallback = "the last one",
             .sentence = "the dimension along which rows run",
             .example = "0"},
    Argument{.name = "largest",
             .option = "--largest",
             .type = ArgumentType::choice,
             .fallback = "yes",
             .sentence = "whether the greatest elements are taken, or the least",
             .example = "no",
             .choices = no_or_yes},
    Argument{.name = "index",
             .option = "--index",
             .type = ArgumentType::choice,
             .fallback = "the destination's type, else i64",
             .sentence = "the type of the index, or no for values alone",
             .example = "i32",
             .choices = index_choices}};

TopK top_k_of(const Arguments& given) {
  return {.axis = given.axis("axis", -1), .largest = given.text("largest") != "no"};
}

std::vector<TensorView> top_k_destinations(std::span<const TensorView> sources, const Arguments& given) {
  const auto x = extents(sources.front(), "x");
  const TopK what = top_k_of(given);
  const auto axis = dimension_of(what.axis, x.size());
  if (!axis) {
    if (x.empty()) refuse("top_k: x has no dimension; at least 1 is needed");
    refuse("top_k: axis {} of x, which has {}; legal are {}", what.axis, counted(x.size(), "dimension"),
           legal_axes(x.size()));
  }
  const std::uint64_t k = given.count("k");
  const std::uint64_t length = x[*axis];
  if (k == 0 || k > length || k > max_top_k) {
    refuse("top_k: k = {} of rows of {}; legal are 1 to {}, and at most the row's length", k,
           counted(length, "element"), max_top_k);
  }
  std::vector<std::uint64_t> shape(x.begin(), x.end());
  shape[*axis] = k;
  std::vector<TensorView> views{TensorView::contiguous(sources.front().type, shape)};
  const std::string_view index = given.text("index");
  if (index == "no") return views;
  views.push_back(TensorView::contiguous(index == "i32" ? ElementType::i32 : ElementType::i64, shape));
  return views;
}

}  // namespace

const OperationEntry top_k_entry{
    .info = {.name = "top_k",
             .summary = "takes the k greatest or least elements of each row, in order, with their indices",
             .arguments = top_k_arguments,
             .several_destinations = true},
    .destinations = top_k_destinations,
    .make = [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
      const std::string_view index = given.text("index");
      using Names = std::vector<std::string_view>;
      const Names wanted = index == "no" ? Names{"values, since index is no"} : Names{"values", "index"};
      if (to.size() != wanted.size()) refuse_destinations("top_k", to.size(), wanted);
      if (wanted.size() == 2 && !index.empty() && to[1].view.type != parse<ElementType>(index)) {
        refuse("top_k: index is {}, but destination 1 has elements of {}; both must be the same", index,
               name(to[1].view.type));
      }
      Operation operation = operation::top_k(to, from.front(), top_k_of(given));
      const std::uint64_t count = std::get<TopK>(operation.moves.front().body).count;
      // An axis that x lacks is reported by plan().
      if (count != given.count("k") && dimension_of(top_k_of(given).axis, from.front().view.rank)) {
        refuse("top_k: k = {}, but values has {} along the axis; both must be the same", given.count("k"),
               counted(count, "element"));
      }
      return operation;
    }};

TMAJIT_END
