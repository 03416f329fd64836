#include "operand_types.hpp"

#include "parse.hpp"

#include <tmajit/error.hpp>

#include <spdlog/fmt/fmt.h>

namespace jitc {

using tmajit::ElementType;
using tmajit::Error;
using tmajit::ErrorCode;

OperandTypes choose_types(const KernelOptions& options, std::span<const InputArray> files,
                          std::size_t count) {
  const auto named = parse_types(options.dtypes);
  if (named.size() > 1 && named.size() != count && named.size() != count + 1) {
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("--dtype names {} types; legal are 1 for all, {} for the inputs, or {} with the output's",
                    named.size(), count, count + 1));
  }
  OperandTypes types;
  for (std::size_t i = 0; i < count; ++i) {
    types.inputs.push_back(!named.empty()  ? named[named.size() == 1 ? 0 : i]
                           : files.empty() ? ElementType::f32
                                           : files[i].type());
    if (!files.empty()) files[i].check(types.inputs.back());
  }
  if (options.out_dtype.empty()) {
    types.output = named.size() == count + 1 ? named.back() : types.inputs.front();
    return types;
  }
  types.output = tmajit::parse_element_type(options.out_dtype);
  if (named.size() == count + 1 && named.back() != types.output) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--out-dtype {}, but --dtype ends with {} for the output", options.out_dtype,
                            tmajit::name(named.back())));
  }
  return types;
}

}  // namespace jitc
