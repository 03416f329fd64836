#include "conformance/reduction_form.hpp"

#include <spdlog/fmt/fmt.h>

namespace conformance {

using namespace tmajit;
using reference::EngineReduction;

namespace {

bool is_bitwise(EngineReduction operation) {
  return operation == EngineReduction::bit_and || operation == EngineReduction::bit_or ||
         operation == EngineReduction::bit_xor;
}

}  // namespace

std::vector<ReductionForm> reduction_forms(reference::ReductionTarget target) {
  std::vector<ReductionForm> forms;
  for (const EngineReduction operation : reference::all_engine_reductions) {
    for (const ElementType type : all_element_types) {
      // Bitwise operations are of .b32 and .b64, for which the unsigned types stand.
      const bool is_duplicate =
          is_bitwise(operation) && (type == ElementType::i32 || type == ElementType::i64);
      if (!is_duplicate && reference::engine_reduces(operation, type, target))
        forms.push_back({operation, type});
    }
  }
  return forms;
}

std::string name_of(const ReductionForm& form) {
  const auto operation = reference::name(form.operation);
  if (is_bitwise(form.operation)) return fmt::format("{}_b{}", operation, 8 * size_of(form.type));
  const bool half = form.type == ElementType::f16 || form.type == ElementType::bf16;
  const bool is_sum = form.operation == EngineReduction::add;
  const bool is_signed = form.type == ElementType::i32 || form.type == ElementType::i64;
  return fmt::format("{}{}_{}", operation, half && is_sum ? "_noftz" : "",
                     is_signed ? fmt::format("s{}", 8 * size_of(form.type)) : std::string(name(form.type)));
}

std::string switch_of(const std::vector<ReductionForm>& forms, int first, const std::string& call,
                      const std::string& arguments) {
  std::string text;
  for (std::size_t i = 0; i < forms.size(); ++i)
    text += fmt::format("    case {}: {}{}{}; break;\n", first + static_cast<int>(i), call, name_of(forms[i]),
                        arguments);
  return text;
}

}  // namespace conformance
