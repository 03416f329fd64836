#include "lint/checks.hpp"

#include <algorithm>

#include <llvm/ADT/StringRef.h>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace lint {
namespace {

using ptx::Opcode;

/// The notes "PTX ISA Notes" and "Target ISA Notes" of an instruction.
struct Needs {
  Opcode opcode;
  std::uint32_t version;           ///< 10 · major + minor
  std::uint32_t architecture;      ///< sm_XX
  bool specific = false;           ///< sm_XXa
  const char* modifier = nullptr;  ///< only with this word
};

constexpr Needs table[] = {
    {Opcode::cp_async, 70, 80},
    {Opcode::cp_async_commit_group, 70, 80},
    {Opcode::cp_async_wait_group, 70, 80},
    {Opcode::cp_async_wait_all, 70, 80},
    {Opcode::cp_async_mbarrier_arrive, 70, 80},
    {Opcode::cp_async_bulk, 80, 90},
    {Opcode::cp_async_bulk, 86, 90, false, "shared::cta.global"},
    {Opcode::cp_reduce_async_bulk, 80, 90},
    {Opcode::cp_async_bulk_prefetch, 80, 90},
    {Opcode::cp_async_bulk_tensor_load, 80, 90},
    {Opcode::cp_async_bulk_tensor_load, 86, 90, false, "shared::cta.global"},
    {Opcode::cp_async_bulk_tensor_store, 80, 90},
    {Opcode::cp_reduce_async_bulk_tensor, 80, 90},
    {Opcode::cp_async_bulk_prefetch_tensor, 80, 90},
    {Opcode::cp_async_bulk_commit_group, 80, 90},
    {Opcode::cp_async_bulk_wait_group, 80, 90},
    {Opcode::prefetch_tensormap, 80, 90},
    {Opcode::tensormap_replace, 83, 90, true},
    {Opcode::tensormap_cp_fenceproxy, 83, 90},
    {Opcode::createpolicy_fractional, 74, 80},
    {Opcode::createpolicy_range, 74, 80},
    {Opcode::mapa, 78, 90},
    {Opcode::getctarank, 78, 90},
    {Opcode::st_async, 81, 90},
    {Opcode::red_async, 81, 90},
    {Opcode::st_bulk, 86, 100},
    {Opcode::multimem_ld_reduce, 81, 90},
    {Opcode::multimem_st, 81, 90},
    {Opcode::multimem_red, 81, 90},
    {Opcode::barrier_cluster_arrive, 78, 90},
    {Opcode::barrier_cluster_wait, 78, 90},
    {Opcode::fence_mbarrier_init, 80, 90},
    {Opcode::fence_proxy, 80, 90, false, "async"},
    {Opcode::fence_proxy, 83, 90, false, "tensormap::generic"},
    {Opcode::griddepcontrol, 78, 90},
    {Opcode::elect, 80, 90},
    {Opcode::redux, 70, 80},
    {Opcode::mbarrier_init, 70, 80},
    {Opcode::mbarrier_inval, 70, 80},
    {Opcode::mbarrier_expect_tx, 80, 90},
    {Opcode::mbarrier_complete_tx, 80, 90},
    {Opcode::mbarrier_arrive, 70, 80},
    {Opcode::mbarrier_arrive, 80, 90, false, "expect_tx"},
    {Opcode::mbarrier_arrive_drop, 70, 80},
    {Opcode::mbarrier_arrive_drop, 80, 90, false, "expect_tx"},
    {Opcode::mbarrier_test_wait, 70, 80},
    {Opcode::mbarrier_try_wait, 78, 90},
    {Opcode::mbarrier_pending_count, 70, 80},
    {Opcode::ldmatrix, 65, 75},
    {Opcode::stmatrix, 78, 90},
    {Opcode::movmatrix, 78, 75},
    {Opcode::wgmma_mma_async, 80, 90, true},
    {Opcode::wgmma_fence, 80, 90, true},
    {Opcode::wgmma_commit_group, 80, 90, true},
    {Opcode::wgmma_wait_group, 80, 90, true},
    {Opcode::nanosleep, 63, 70},
    {Opcode::setmaxnreg, 80, 90, true},
};

bool applies(const Needs& needs, const ptx::Instruction& in) {
  if (needs.opcode != in.opcode) return false;
  if (needs.modifier == nullptr) return true;
  const llvm::StringRef modifier = needs.modifier;
  if (!modifier.contains('.')) return in.has(needs.modifier);
  const auto [first, second] = modifier.split('.');
  for (std::size_t i = 1; i + 1 < in.words.size(); ++i) {
    if (in.words[i] == first && in.words[i + 1] == second) return true;
  }
  return false;
}

struct Target {
  std::string name;
  std::uint32_t architecture = 0;
  bool specific = false;
};

std::optional<Target> target_of(const ptx::Module& module) {
  for (const std::string& name : module.targets) {
    llvm::StringRef text = name;
    Target target{name};
    if (!text.consume_front("sm_")) continue;
    target.specific = text.consume_back("a") || text.consume_back("f");
    if (!text.getAsInteger(10, target.architecture)) return target;
  }
  return std::nullopt;
}

}  // namespace

void check_target(const Kernel& kernel, Findings& findings) {
  const std::uint32_t version = kernel.module.version_major * 10 + std::min(kernel.module.version_minor, 9U);
  const auto target = target_of(kernel.module);
  for (std::uint32_t i = 0; i < kernel.function.instructions.size(); ++i) {
    const ptx::Instruction& in = kernel.instruction(i);
    for (const Needs& needs : table) {
      if (!applies(needs, in)) continue;
      const std::string name = in.full_name();
      if (version < needs.version) {
        findings.add(
            kernel, i, "target.version",
            fmt::format("{} in PTX {}.{}", name, kernel.module.version_major, kernel.module.version_minor),
            fmt::format("PTX {}.{} or later", needs.version / 10, needs.version % 10),
            "raise .version, or compile with a later CUDA");
      }
      if (!target) continue;
      if (target->architecture < needs.architecture) {
        findings.add(kernel, i, "target.architecture", fmt::format("{} for target {}", name, target->name),
                     fmt::format("sm_{} or later", needs.architecture), "compile for sm_90a");
      } else if (needs.specific && !target->specific) {
        findings.add(kernel, i, "target.feature", fmt::format("{} for target {}", name, target->name),
                     fmt::format("sm_{}a: the feature belongs to one architecture", needs.architecture),
                     "compile for sm_90a");
      }
    }
  }
}

}  // namespace lint
TMAJIT_END
