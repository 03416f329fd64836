#include "ptx_kernel.hpp"

#include "ptx/parser.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <variant>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

namespace ptx = tmajit::ptx;

PtxParameter describe(const ptx::Variable& variable) {
  PtxParameter parameter;
  parameter.bytes = std::uint64_t{std::max(ptx::bits_of(variable.type) / 8, 1U)} * variable.vector_width;
  parameter.declaration = ".param";
  if (variable.alignment) parameter.declaration += fmt::format(" .align {}", *variable.alignment);
  if (variable.vector_width > 1) parameter.declaration += fmt::format(" .v{}", variable.vector_width);
  parameter.declaration += fmt::format(" .{} {}", ptx::name(variable.type), variable.name);
  for (const auto& extent : variable.extents) {
    parameter.bytes *= extent.value_or(0);
    parameter.declaration += extent ? fmt::format("[{}]", *extent) : "[]";
  }
  return parameter;
}

}  // namespace

std::vector<PtxKernel> kernels_of(std::string_view text, std::string_view file) {
  const auto parsed = ptx::parse(text, file);
  if (!parsed) {
    throw tmajit::Error(tmajit::ErrorCode::invalid_argument,
                        fmt::format("{} does not parse as PTX:\n{}", file, parsed.report));
  }
  std::vector<PtxKernel> kernels;
  for (const auto& directive : parsed.module->directives) {
    const auto* const function = std::get_if<ptx::Function>(&directive);
    if (function == nullptr || !function->is_entry || !function->body) continue;
    PtxKernel kernel{.name = function->name, .parameters = {}};
    for (const auto& parameter : function->parameters) kernel.parameters.push_back(describe(parameter));
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

}  // namespace jitc
