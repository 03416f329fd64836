#pragma once

/// Questions that tests and lint ask of a module: which instructions does it hold, and how many?
#include "ptx/ast.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN
namespace ptx {

/// Whether `name` ("ld.global.v4.f32") is `prefix` or goes on after it with '.' or ':'. So "cp.async.bulk"
/// matches every bulk copy and "…tile.mbarrier" matches "…tile.mbarrier::complete_tx::bytes", but "ld"
/// does not match "ldmatrix".
[[nodiscard]] bool matches(std::string_view name, std::string_view prefix) noexcept;

/// Calls `visit` with every instruction of the body, in the order of the text, nested scopes included.
void for_each_instruction(const Function& function, const std::function<void(const Instruction&)>& visit);
/// Of every function of the module.
void for_each_instruction(const Module& module, const std::function<void(const Instruction&)>& visit);

/// How many instructions match `prefix`.
[[nodiscard]] std::size_t count(const Function& function, std::string_view prefix);
[[nodiscard]] std::size_t count(const Module& module, std::string_view prefix);
/// Of PTX text; throws std::invalid_argument with the diagnostics if it does not parse.
[[nodiscard]] std::size_t count(std::string_view text, std::string_view prefix);

/// The instructions that match, in the order of the text. They live as long as the module.
[[nodiscard]] std::vector<const Instruction*> find_instructions(const Module& module,
                                                                std::string_view prefix);

/// Full name → how often.
using Histogram = std::map<std::string, std::size_t, std::less<>>;
[[nodiscard]] Histogram histogram(const Function& function);
[[nodiscard]] Histogram histogram(const Module& module);
/// Of PTX text; throws as count() does.
[[nodiscard]] Histogram histogram(std::string_view text);

}  // namespace ptx
TMAJIT_END
