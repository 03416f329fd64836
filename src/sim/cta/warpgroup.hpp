#pragma once

/// Operations of a warpgroup, four warps: asynchronous products of matrices (wgmma, PTX ISA 9.7.15), and
/// the registers that warps hand over to each other (setmaxnreg, 9.7.19.5).
#include "sim/cta/cta.hpp"

#include <deque>
#include <vector>

TMAJIT_BEGIN
namespace sim {

inline constexpr std::uint32_t warps_of_group = 4;

/// A matrix in shared memory as a descriptor names it (9.7.15.5.1.2.2).
struct MatrixDescriptor {
  explicit MatrixDescriptor(std::uint64_t bits) noexcept;

  std::uint32_t start = 0;    ///< shared address
  std::uint32_t leading = 0;  ///< bytes
  std::uint32_t stride = 0;   ///< bytes
  std::uint32_t base = 0;     ///< offset of the swizzle's pattern, in units of 128 bytes; 0: it begins at a
                              ///< multiple of its period
  std::uint32_t row_bytes = 16;  ///< width of the swizzle's pattern: 16 (not swizzled), 32, 64, 128

  /// Shared address of 16 bytes of the matrix: chunk `chunk` along K of row `row`, where it is stored row by
  /// row (K-major) …
  [[nodiscard]] std::uint32_t by_rows(std::uint32_t row, std::uint32_t chunk) const noexcept;
  /// … or chunk `chunk` of 8 rows at column `k`, where it is stored column by column (MN-major).
  [[nodiscard]] std::uint32_t by_columns(std::uint32_t chunk, std::uint32_t k) const noexcept;

  [[nodiscard]] Swizzle swizzle() const noexcept;
  /// Whether a load with swizzle `loaded` puts the same bytes of the matrix at this shared address.
  [[nodiscard]] bool agrees(std::uint32_t address, Swizzle loaded) const noexcept;

 private:
  [[nodiscard]] std::uint32_t swizzled(std::uint32_t address) const noexcept;
};

/// A wgmma.mma_async that a warp has issued and not waited for.
struct PendingProduct {
  const WarpgroupProduct* product = nullptr;
  MatrixDescriptor a{0};
  MatrixDescriptor b{0};
  bool keeps_d = false;
  std::uint64_t group = 0;
  std::uint32_t place = 0;
  bool done = false;
};

struct WarpgroupState {
  explicit WarpgroupState(std::uint32_t watched)
      : in_flight(watched), results(watched), touched(watched), kinds(watched) {}

  bool fenced = false;                   ///< wgmma.fence has been executed
  std::vector<std::uint32_t> in_flight;  ///< by watched register: products in flight that use it
  std::vector<std::uint32_t> results;    ///< by watched register: products in flight that write it
  std::vector<bool>
      touched;  ///< by watched register: other instructions have used it since the last wgmma.fence
  std::vector<std::uint32_t>
      kinds;  ///< by watched register: kind of the product that has used it since then; 0: none
  std::deque<PendingProduct> pending;   ///< in order of issue
  std::uint64_t group = 0;              ///< the group that the next commit closes
  std::vector<std::uint32_t> products;  ///< places of the products issued, to compare with the other warps
  std::vector<std::uint32_t> settings;  ///< values of setmaxnreg, to compare with the other warps
  std::uint32_t last_setting = 0;       ///< place of the last setmaxnreg
};

/// About::cause of a product that no wait covers. Products between the same waits share it, whichever rule
/// they break.
[[nodiscard]] std::string product_cause(const Program& program, std::uint32_t place);
/// Returns the warpgroup state of a warp, and makes it on first use.
[[nodiscard]] WarpgroupState& warpgroup_of(Warp& warp);
/// Checks the watched registers that an instruction uses. Called before its first micro-operation.
void watch_registers(Warp& warp, Mask mask);
/// Reports, when the CTA ends, products that have not been waited for, and warps that have executed less than
/// another warp of their warpgroup.
void finish_warpgroups(Cta& cta);
/// Called when no thread can go on. Reports warpgroups in which a warp has executed less than another warp,
/// and has ended or waits neither for an mbarrier nor for registers. Returns false if there are none.
[[nodiscard]] bool report_lagging_warps(Cta& cta);
/// Registers of a thread when its CTA begins, as ptxas gives them to a kernel with setmaxnreg. 0: ptxas
/// cannot tell, and ignores setmaxnreg (its message C7508).
[[nodiscard]] std::uint32_t registers_at_launch(const Program& program);

}  // namespace sim
TMAJIT_END
