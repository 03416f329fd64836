#include "runtime/binding.hpp"

#include "runtime/operands.hpp"
#include "spec/saturate.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <limits>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint64_t max_grid = (1ULL << 31) - 1;  // of the first dimension (CUDA C++ Programming Guide)

/// CTAs for `work` tiles. Of a persistent grid no more than the GPU holds at once; else as many as share the
/// tiles out. Throws Error{unsupported} if there are too many.
std::uint32_t ctas(const BuiltKernel& kernel, std::uint64_t work) {
  if (kernel.spec->tiles_per_cta > 0) {
    const std::uint64_t count = std::max<std::uint64_t>(ceil_div(work, kernel.spec->tiles_per_cta), 1);
    if (count <= max_grid) return static_cast<std::uint32_t>(count);
    throw Error(ErrorCode::unsupported,
                fmt::format("{} CTAs of {} tiles; at most 2^31 - 1 are possible. Use a larger box, more "
                            "tiles_per_cta, or 0 for a persistent grid.",
                            count, kernel.spec->tiles_per_cta));
  }
  const std::uint64_t resident = std::uint64_t{kernel.device->info().sm_count} * kernel.spec->ctas_per_sm;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(work, 1, std::max<std::uint64_t>(resident, 1)));
}

/// Elements of `shape` that tiles start from, over element strides: what one walk over all tiles visits.
std::uint64_t walked(const KernelSpec& spec, const TensorView& view, std::uint32_t d) noexcept {
  const bool source = spec.family == Family::snapshot;  // its output does not have the tiles' shape
  return source ? ceil_div(view.shape[d], std::max<std::uint64_t>(spec.input(0).element_strides[d], 1))
                : view.shape[d];
}

}  // namespace

void require_device(const BuiltKernel& kernel) {
  if (kernel.loaded) return;
  const std::string why = why_no_gpu();
  throw Error(ErrorCode::unavailable,
              fmt::format("the kernel cannot be launched: its runtime has no device ({}).",
                          why.empty() ? "pass open_gpu() as RuntimeOptions::device" : why));
}

Binding::Binding(const BuiltKernel& kernel, std::span<const Operand> inputs, const Operand& output) {
  if (!kernel.spec) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("'{}' is a custom kernel, whose parameters only its author knows; use "
                            "launch(shape, parameters, stream).",
                            kernel.artifact.entry));
  }
  const KernelSpec& spec = *kernel.spec;
  require_operands(spec, inputs, output);
  require_device(kernel);
  shape_.block = {threads(spec), 1, 1};
  shape_.shared_bytes = kernel.shared_bytes;
  if (spec.family == Family::bulk) {
    bind_bulk(spec, inputs[0], output);
    shape_.grid[0] = ctas(kernel, ceil_div(words_[2], spec.tile[0]));
  } else {
    bind_tiles(kernel, inputs, output);
  }
}

void Binding::bind_bulk(const KernelSpec& spec, const Operand& input, const Operand& output) {
  const std::uint64_t elements = output.view.elements();
  words_ = {input.address, output.address, elements};
  for (std::uint64_t& word : words_) add(&word);
  bytes_moved_ = sat_mul(elements, size_of(spec.input(0).type) + size_of(spec.output().type));
}

void Binding::bind_tiles(const BuiltKernel& kernel, std::span<const Operand> inputs, const Operand& output) {
  const KernelSpec& spec = *kernel.spec;
  const TensorView& walk = spec.family == Family::snapshot ? inputs[0].view : output.view;
  std::uint64_t tiles = 1;
  std::uint64_t visited = 1;
  for (std::uint32_t d = 0; d < spec.rank; ++d) {
    const std::uint64_t extent = walked(spec, walk, d);
    const std::uint64_t count = ceil_div(extent, spec.tile[d]);
    if (count > std::numeric_limits<std::uint32_t>::max()) {
      throw Error(
          ErrorCode::unsupported,
          fmt::format("dimension {}: {} tiles of {}; at most 2^32 - 1 are possible. Use a larger box.", d,
                      count, spec.tile[d]));
    }
    tiles_[d] = static_cast<std::uint32_t>(count);
    tiles = sat_mul(tiles, count);
    visited = sat_mul(visited, extent);
  }
  shape_.grid[0] = ctas(kernel, tiles);

  for (std::uint32_t i = 0; i <= spec.inputs; ++i) {
    const Operand& operand = i < spec.inputs ? inputs[i] : output;
    if (has_map(spec, i)) {
      TensorMapSpec map = tensor_map(spec, i, operand.view, operand.l2_promotion, operand.oob_fill);
      if (i == spec.inputs) tail_.emplace(map, operand.address);
      maps_[i] = kernel.device->encode(map, operand.address);
      add(&maps_[i]);
    } else {
      words_[0] = operand.address;
      add(&words_[0]);
    }
    const std::uint64_t elements = i < spec.inputs ? visited : operand.view.elements();
    bytes_moved_ = sat_add(bytes_moved_, sat_mul(elements, size_of(operand.view.type)));
  }
  add(&tiles_);
  if (tail_) add(tail_->parameter());
}

TMAJIT_END
