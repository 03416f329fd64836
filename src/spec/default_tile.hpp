#pragma once

#include <tmajit/kernel_spec.hpp>

#include <span>

TMAJIT_BEGIN

/// Which of the choices in a KernelSpec the caller left to us.
struct Defaults {
  bool tile = false;
  bool stages = false;
  bool output_stages = false;
  bool warps = false;
  bool ctas_per_sm = false;
  bool tiles_per_cta = false;
};

/// Fills in what `missing` names. Family, rank, inputs and operands of `spec` are set; `extents` is the shape
/// of the output (for bulk it is empty). The result is legal wherever what is already there allows it.
void fill_defaults(KernelSpec& spec, const Defaults& missing, std::span<const std::uint64_t> extents);

TMAJIT_END
