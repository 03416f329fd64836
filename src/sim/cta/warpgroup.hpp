#pragma once

/// Operations of a warpgroup, which is four warps: asynchronous matrix products (wgmma, PTX ISA 9.7.15), and
/// moving registers between warpgroups (setmaxnreg, 9.7.19.5).
#include "sim/cta/cta.hpp"

#include <deque>
#include <vector>

TMAJIT_BEGIN
namespace sim {

inline constexpr std::uint32_t warps_of_group = 4;

/// A decoded wgmma matrix descriptor: a matrix in shared memory (9.7.15.5.1.2.2).
struct MatrixDescriptor {
  explicit MatrixDescriptor(std::uint64_t bits) noexcept;

  std::uint32_t start = 0;    ///< shared address
  std::uint32_t leading = 0;  ///< leading dimension byte offset
  std::uint32_t stride = 0;   ///< stride dimension byte offset
  std::uint32_t base = 0;     ///< matrix base offset: start of the swizzle's pattern, in units of 128 bytes
  std::uint32_t row_bytes = 16;  ///< width of the swizzle's pattern: 16 (not swizzled), 32, 64, 128

  /// For a K-major matrix (stored row by row): the shared address of 16 bytes, chunk `chunk` along K of row
  /// `row`.
  [[nodiscard]] std::uint32_t by_rows(std::uint32_t row, std::uint32_t chunk) const noexcept;
  /// For an MN-major matrix (stored column by column): the shared address of 16 bytes, chunk `chunk` along
  /// the rows of column `k`.
  [[nodiscard]] std::uint32_t by_columns(std::uint32_t chunk, std::uint32_t k) const noexcept;

  [[nodiscard]] Swizzle swizzle() const noexcept;
  /// Whether swizzle `loaded` puts the same bytes of the matrix at this shared address as this descriptor's.
  [[nodiscard]] bool agrees(std::uint32_t address, Swizzle loaded) const noexcept;

 private:
  [[nodiscard]] std::uint32_t swizzled(std::uint32_t address) const noexcept;
};

/// A wgmma.mma_async that a warp has issued and not waited for.
struct PendingProduct {
  const WarpgroupProduct* product = nullptr;
  MatrixDescriptor a{0};
  MatrixDescriptor b{0};
  bool keeps_d = false;  ///< D += A · B, else D = A · B
  std::uint64_t group = 0;
  std::uint32_t location = 0;  ///< index into Program::locations
  bool done = false;           ///< D has been computed
};

/// The state of one warp for instructions of its warpgroup. Watched registers are those that products use.
struct WarpgroupState {
  explicit WarpgroupState(std::uint32_t watched)
      : in_flight(watched), results(watched), touched(watched), kinds(watched) {}

  bool fenced = false;                   ///< wgmma.fence has been executed
  std::vector<std::uint32_t> in_flight;  ///< by watched register: products in flight that use it
  std::vector<std::uint32_t> results;    ///< by watched register: products in flight that write it
  std::vector<bool> touched;  ///< by watched register: another instruction used it since the last wgmma.fence
  /// By watched register: WarpgroupProduct::kind of the last product that used it since the last wgmma.fence;
  /// 0: none.
  std::vector<std::uint32_t> kinds;
  std::deque<PendingProduct> pending;   ///< in order of issue
  std::uint64_t group = 0;              ///< number of the group that the next wgmma.commit_group closes
  std::vector<std::uint32_t> products;  ///< locations of the products issued, to compare with the other warps
  std::vector<std::uint32_t> settings;  ///< values of setmaxnreg, to compare with the other warps
  std::uint32_t last_setting = 0;       ///< location of the last setmaxnreg
};

/// About::cause for a product that no wait covers. It merges the reports of all products between the same
/// waits, whichever rule they break.
[[nodiscard]] std::string product_cause(const Program& program, std::uint32_t location);
/// Returns the warpgroup state of a warp; creates it on first use.
[[nodiscard]] WarpgroupState& warpgroup_of(Warp& warp);
/// Checks the watched registers that an instruction uses. Called before its first micro-operation.
void watch_registers(Warp& warp, Mask mask);
/// Called when the CTA ends. Reports products that no wait has covered, and warps that have executed fewer
/// products or setmaxnreg than another warp of their warpgroup.
void finish_warpgroups(Cta& cta);
/// Called when no thread can continue. Reports warps that have executed fewer products or setmaxnreg than
/// another warp of their warpgroup and cannot catch up: they wait neither for an mbarrier nor for registers.
/// Returns false if there are none.
[[nodiscard]] bool report_lagging_warps(Cta& cta);
/// The number of registers that ptxas gives a thread of a kernel with setmaxnreg at launch. 0: ptxas cannot
/// determine it, and ignores setmaxnreg (ptxas message C7508).
[[nodiscard]] std::uint32_t registers_at_launch(const Program& program);

}  // namespace sim
TMAJIT_END
