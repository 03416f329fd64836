#include "lint/checks.hpp"

#include <algorithm>
#include <array>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringRef.h>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace lint {
namespace {

using ptx::Opcode;

using enum Opcode;

/// The PTX version and target that instructions need, by the sections "PTX ISA Notes" and "Target ISA Notes"
/// of the PTX ISA.
struct Needs {
  std::uint32_t version;       ///< 10 · major + minor
  std::uint32_t architecture;  ///< 90 for sm_90
  bool specific;               ///< the target must have a suffix, as sm_90a has
  std::initializer_list<Opcode> opcodes;
  const char* modifier = nullptr;  ///< only instructions with this word, or with "a.b" in a row

  [[nodiscard]] bool apply_to(const ptx::Instruction& in) const {
    if (!llvm::is_contained(opcodes, in.opcode)) return false;
    if (modifier == nullptr) return true;
    const auto [first, second] = llvm::StringRef(modifier).split('.');
    const auto words = in.words();
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i] == first && (second.empty() || (i + 1 < words.size() && words[i + 1] == second)))
        return true;
    }
    return false;
  }
};

constexpr Needs table[] = {
    {63, 70, false, {nanosleep}},
    {60, 70, false, {wmma}},
    {65, 75, false, {ldmatrix}},
    {70,
     80,
     false,
     {cp_async, cp_async_commit_group, cp_async_wait_group, cp_async_wait_all, cp_async_mbarrier_arrive,
      redux, mbarrier_init, mbarrier_inval, mbarrier_arrive, mbarrier_arrive_drop, mbarrier_test_wait,
      mbarrier_pending_count}},
    {74, 80, false, {createpolicy_fractional, createpolicy_range}},
    {78, 75, false, {movmatrix}},
    {78,
     90,
     false,
     {mapa, getctarank, barrier_cluster_arrive, barrier_cluster_wait, griddepcontrol, mbarrier_try_wait,
      stmatrix}},
    {80,
     90,
     false,
     {cp_async_bulk, cp_reduce_async_bulk, cp_async_bulk_prefetch, cp_async_bulk_tensor_load,
      cp_async_bulk_tensor_store, cp_reduce_async_bulk_tensor, cp_async_bulk_prefetch_tensor,
      cp_async_bulk_commit_group, cp_async_bulk_wait_group, prefetch_tensormap, fence_mbarrier_init, elect,
      mbarrier_expect_tx, mbarrier_complete_tx}},
    {80, 90, false, {fence_proxy}, "async"},
    {80, 90, false, {mbarrier_arrive, mbarrier_arrive_drop}, "expect_tx"},
    {80, 90, true, {wgmma_mma_async, wgmma_fence, wgmma_commit_group, wgmma_wait_group, setmaxnreg}},
    {81, 90, false, {fma}, "oob"},
    {81, 90, false, {st_async, red_async, multimem_ld_reduce, multimem_st, multimem_red}},
    {83, 90, false, {tensormap_cp_fenceproxy}},
    {83, 90, false, {fence_proxy}, "tensormap::generic"},
    {83, 90, true, {tensormap_replace}},
    {86, 90, false, {cp_async_bulk, cp_async_bulk_tensor_load}, "shared::cta.global"},
    {86, 100, false, {st_bulk}},
};

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
  // setmaxnreg is the last opcode.
  static constexpr auto is_in_table = [] {
    std::array<bool, static_cast<std::size_t>(setmaxnreg) + 1> found{};
    for (const Needs& needs : table)
      for (const Opcode opcode : needs.opcodes) found[static_cast<std::size_t>(opcode)] = true;
    return found;
  }();
  for (std::uint32_t i = 0; i < kernel.function.instructions.size(); ++i) {
    const ptx::Instruction& in = kernel.instruction(i);
    if (!is_in_table[static_cast<std::size_t>(in.opcode)]) continue;
    for (const Needs& needs : table) {
      if (!needs.apply_to(in)) continue;
      const std::string& name = in.name;
      if (version < needs.version) {
        findings.add(
            i, "target.version",
            fmt::format("{} in PTX {}.{}", name, kernel.module.version_major, kernel.module.version_minor),
            fmt::format("PTX {}.{} or later", needs.version / 10, needs.version % 10));
      }
      if (!target) continue;
      if (target->architecture < needs.architecture) {
        findings.add(i, "target.architecture", fmt::format("{} for target {}", name, target->name),
                     fmt::format("sm_{} or later", needs.architecture));
      } else if (needs.specific && !target->specific) {
        findings.add(i, "target.feature", fmt::format("{} for target {}", name, target->name),
                     fmt::format("sm_{}a: the feature belongs to one architecture", needs.architecture));
      }
    }
  }
}

}  // namespace lint
TMAJIT_END
