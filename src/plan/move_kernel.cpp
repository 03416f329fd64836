#include "plan/move_kernel.hpp"

#include "codegen/include_expander.hpp"
#include "codegen/templates.hpp"
#include "spec/saturate.hpp"

#include <tmajit/error.hpp>

#include <cstring>
#include <limits>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

constexpr std::uint64_t max_grid = (1ULL << 31) - 1;
constexpr std::uint64_t resident_threads = 132ULL * 2048;  // enough for any Hopper; more only wait

/// A nest of a single element has no dimension, its kernel one.
std::uint64_t extent(const CanonicalNest& nest, std::uint32_t d) {
  return d < nest.rank ? nest.shape[d] : 1;
}

std::uint64_t tiles(const MoveKernel& kernel, const CanonicalNest& nest, std::uint32_t d) {
  return ceil_div(extent(nest, d), kernel.box[d]);
}

void append(std::vector<std::byte>& bytes, auto value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), first, first + sizeof value);
}

std::string entry_of(const MoveKernel& kernel) {
  return fmt::format("tmajit_{}", name(kernel.method));
}

std::string facts(const MoveKernel& kernel) {
  const auto list = [&](const auto& values) {
    return fmt::format("{}", fmt::join(values.begin(), values.begin() + kernel.rank, ", "));
  };
  std::string out = "\n// ---- what this kernel is specialised for ----\nnamespace tmajit {\n\n";
  out += fmt::format("constexpr u32 rank = {};\n", kernel.rank);
  out += fmt::format("constexpr u32 element_bytes = {};\n", kernel.element_bytes);
  out += fmt::format("constexpr u32 threads = {};\n", kernel.threads);
  if (kernel.method != MoveMethod::elements) {
    out += fmt::format(
        "__device__ constexpr Extent<rank> box() {{ return {{{{{}}}}}; }}  // elements of a tile, outermost "
        "first\n",
        list(kernel.box));
  }
  if (kernel.method == MoveMethod::transpose) {
    out += fmt::format("constexpr u32 row = {};     // contiguous in the destination\n", kernel.rank - 1);
    out += fmt::format("constexpr u32 column = {};  // contiguous in the source\n", kernel.column);
    out += fmt::format(
        "__device__ constexpr Extent<rank> source_order() {{ return {{{{{}}}}}; }}  // dimensions, by "
        "stride\n",
        list(kernel.source_order));
  }
  return out + "\n}  // namespace tmajit\n";
}

std::string_view function_of(MoveMethod method) {
  switch (method) {
    case MoveMethod::rows: return "move_rows";
    case MoveMethod::transpose: return "transpose_tile";
    default: return "move_elements";
  }
}

}  // namespace

std::string_view name(MoveMethod method) noexcept {
  switch (method) {
    case MoveMethod::rows: return "rows";
    case MoveMethod::transpose: return "transpose";
    default: return "elements";
  }
}

Source move_source(const MoveKernel& kernel) {
  IncludeExpander expander;
  const std::string body =
      close_gaps(expander.strip(template_text(fmt::format("kernels/{}.cu", name(kernel.method)))));
  Source source;
  source.entry = entry_of(kernel);
  source.text = fmt::format("// {}: {} bytes an element, {} dimensions. Made by tmajit {}.\n", source.entry,
                            kernel.element_bytes, kernel.rank, TMAJIT_VERSION_STRING);
  source.text += expander.headers();
  source.text += facts(kernel);
  source.text += fmt::format("\n// ---- {} ----\n{}", name(kernel.method), body);
  source.text += fmt::format(
      "\n// ---- the kernel ----\nextern \"C\" __global__ void __launch_bounds__({})\n{}(const "
      "__grid_constant__ "
      "tmajit::ViewPair<{}> views) {{\n  tmajit::{}(views);\n}}\n",
      kernel.threads, source.entry, kernel.rank, function_of(kernel.method));
  return source;
}

std::vector<std::byte> move_parameter(const MoveKernel& kernel, const CanonicalNest& nest,
                                      DevicePtr destination, DevicePtr source) {
  const auto step = [&](std::uint32_t operand, std::uint32_t d) {
    return nest.operand[operand].strides[d] * static_cast<std::int64_t>(kernel.element_bytes);
  };
  const auto first = [&](DevicePtr address, std::uint32_t operand) {
    return address + static_cast<DevicePtr>(nest.operand[operand].offset *
                                            static_cast<std::int64_t>(kernel.element_bytes));
  };
  std::vector<std::byte> bytes;
  append(bytes, first(source, 1));
  append(bytes, first(destination, 0));
  for (std::uint32_t d = 0; d < kernel.rank; ++d) append(bytes, step(1, d));
  for (std::uint32_t d = 0; d < kernel.rank; ++d) append(bytes, step(0, d));
  for (std::uint32_t d = 0; d < kernel.rank; ++d) append(bytes, extent(nest, d));
  for (std::uint32_t d = 0; d < kernel.rank; ++d) {
    const bool tiled = kernel.method != MoveMethod::elements;
    append(bytes, static_cast<std::uint32_t>(tiled ? tiles(kernel, nest, d) : 1));
  }
  return bytes;
}

LaunchShape move_shape(const MoveKernel& kernel, const CanonicalNest& nest) {
  std::uint64_t ctas = 1;
  if (kernel.method == MoveMethod::elements) {
    ctas = ceil_div(std::min(nest.elements(), resident_threads), kernel.threads);
  } else {
    for (std::uint32_t d = 0; d < kernel.rank; ++d) ctas = sat_mul(ctas, tiles(kernel, nest, d));
  }
  if (ctas > max_grid) {
    throw Error(ErrorCode::unsupported,
                fmt::format("{} tiles; at most 2^31 - 1 are possible in one launch", ctas));
  }
  return {
      .grid = {static_cast<std::uint32_t>(ctas), 1, 1}, .block = {kernel.threads, 1, 1}, .shared_bytes = 0};
}

TMAJIT_END
