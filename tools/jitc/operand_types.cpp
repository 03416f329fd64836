#include "operand_types.hpp"

#include "index_inputs.hpp"
#include "parse.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <algorithm>

namespace jitc {

using tmajit::ElementType;

NamedTypes read_types(const ProblemOptions& options) {
  NamedTypes types{.all = parse_types(options.dtypes)};
  if (!options.out_dtype.empty()) types.output = tmajit::parse<tmajit::ElementType>(options.out_dtype);
  return types;
}

OperandTypes choose_types(const NamedTypes& names, std::span<const InputArray> files, std::size_t count,
                          const tmajit::OperationInfo& operation, bool ragged) {
  const auto& named = names.all;
  if (named.size() > 1 && named.size() != count && named.size() != count + 1) {
    refuse("--dtype names {} types; legal are 1 for all{}, or {} with the output's first", named.size(),
           count == 1 ? "" : fmt::format(", {} for the inputs", count), count + 1);
  }
  OperandTypes types;
  const bool names_output = named.size() == count + 1;  // before the inputs'
  for (std::size_t i = 0; i < count; ++i) {
    const InputRole role = role_of(operation, ragged, i, count);
    const bool is_index = role == InputRole::indices || role == InputRole::offsets;
    const bool is_named = !named.empty() && !(is_index && named.size() == 1);
    types.inputs.push_back(is_named         ? named[named.size() == 1 ? 0 : i + (names_output ? 1 : 0)]
                           : !files.empty() ? files[i].type()
                           : is_index       ? ElementType::i64
                                            : ElementType::f32);
    if (!files.empty()) files[i].check(types.inputs.back());
  }
  types.is_default = !names.output && !names_output;
  if (!names.output) {
    types.output = names_output           ? named.front()
                   : types.inputs.empty() ? ElementType::f32
                                          : types.inputs.front();
    return types;
  }
  types.output = *names.output;
  if (names_output && named.front() != types.output) {
    refuse("--out-dtype {}, but --dtype begins with {} for the output", tmajit::name(types.output),
           tmajit::name(named.front()));
  }
  return types;
}

void require_same_bits(const OperandTypes& types, const tmajit::OperationInfo& operation,
                       const std::string& word, bool pads) {
  if (!operation.moves_bits) return;
  const auto to = types.output;
  const std::size_t count =
      operation.has_indices ? std::min<std::size_t>(types.inputs.size(), 1) : types.inputs.size();
  for (const auto from : std::span(types.inputs).first(count)) {
    if (from != types.inputs.front()) {
      refuse("{} moves bits, but inputs have the types {} and {}; cast converts values", word,
             tmajit::name(types.inputs.front()), tmajit::name(from));
    }
    if (tmajit::size_of(from) != tmajit::size_of(to)) {
      refuse("{} moves bits, but {} elements have {} and {} elements {}; cast converts values", word,
             tmajit::name(from), counted(tmajit::size_of(from), "byte"), tmajit::name(to),
             tmajit::size_of(to));
    }
    if (pads && from != to) {
      refuse("--pad adds elements of the output's type, {}, to bits of {}; cast converts values",
             tmajit::name(to), tmajit::name(from));
    }
  }
}

}  // namespace jitc
