#include "options.hpp"

#include "operations.hpp"
#include "option_group.hpp"

#include <tmajit/cache.hpp>

#include <initializer_list>
#include <utility>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

/// The name of the first option that was given.
std::string_view first_of(std::initializer_list<std::pair<bool, std::string_view>> given) {
  for (const auto& [is_given, name] : given) {
    if (is_given) return name;
  }
  return {};
}

void add_tensor_options(CLI::App& command, ProblemOptions& values) {
  OptionGroup group(command, tensors_group);
  group.add_list("--in", values.in, "FILE", "An input as .npy; repeat it for x0, x1 …");
  group.add_list(
      "--dtype,--type", values.dtypes, "TYPE[,TYPE…]",
      "Element types: one for all, the inputs', or the output's and then the inputs'. Types that NumPy lacks "
      "travel as "
      "bit patterns: bf16 as u2, e4m3 and e5m2 as u1, f32_ftz, tf32 and tf32_ftz as f4. Default: the "
      "files', else f32");
  group.add("--out-dtype,--out-type", values.out_dtype, "TYPE",
            "Element type of the output; default: the first input's");
  group.add(
      "--shape", values.shape, "128x64",
      "Shape of the inputs, row-major. Default: the files'. Where nothing runs: the box's, else 4096x4096");
  group.add_list("--strides", values.strides, "4096,1",
                 "Strides of the inputs on the device, in elements; repeat it for each input");
  group.add("--out-strides", values.out_strides, "4096,1",
            "Strides of the output on the device, in elements");
  group.add("--offset", values.offset, "N",
            "Elements by which the inputs start off a 256-byte boundary of device memory");
  group.add("--out-offset", values.out_offset, "N", "The same of the outputs");
  group.add("--inputs", values.inputs, "N",
            "Inputs of map or concat without files; default: as many as --expr reads, or 2");
  group.add(
      "--expr", values.expression, "'x*2+1'",
      "What map and bulk compute: C over x (or x0 … x7) and g[d], the element's coordinates in the "
      "output. With "
      "a tile of your choice also t[d], those in its tile, and tile_index, the tile's number. In a stencil "
      "x(-1,0) is a neighbour of x. Reduce reduces what it gives; default: the input's elements");
  group.add(
      "--op", values.op, "sum",
      "What reduce does: sum, mean, min, max, any, all, arg_min or arg_max. What reduce_into does with the "
      "output's elements and the input's: add, min, max, inc, dec, and, or or xor");
  group.add("--into", values.into, "FILE",
            "What the output of reduce_into holds before, as .npy; default: made-up elements");
  group.add("--then", values.then, "'sqrt(x/n)'",
            "What reduce makes of each result: C over x, the result, and n, the number of elements it is of");
}

void add_view_options(CLI::App& command, ProblemOptions& values) {
  OptionGroup group(command, views_group);
  group.add("--slice", values.slice, "SLICES",
            "Part of every input, Python's start:stop:step for each dimension: 100:200,:,::-1");
  group.add("--flip", values.flip, "0,2", "Then dimensions that are walked backwards");
  group.add(
      "--axes", values.axes, "0,2,1,3",
      "Then the order of the dimensions: the result's dimension d is this one. Of reduce: the dimensions "
      "that are reduced; default: all");
  group.add("--broadcast", values.broadcast, "8x64x64",
            "Then the shape to which inputs are repeated by NumPy's rules");
  group.add("--pad", values.pad, "WIDTHS",
            "Then how many elements are added before each dimension, and after a colon behind each: 1,1:2,2. "
            "Without "
            "a colon the same at both ends; negative numbers crop");
  group
      .add("--pad-value", values.pad_value, "NUMBER", "What it is filled with, converted to the element type")
      ->capture_default_str();
  group.add("--axis", values.axis, "N",
            "The dimension along which concat joins and split cuts, and the tensors of copy_ragged differ");
  group.add("--parts", values.parts, "10,20,30",
            "Extents along --axis: of split's outputs, of concat's and copy_ragged's inputs without files");
}

void add_stencil_options(CLI::App& command, ProblemOptions& values) {
  OptionGroup group(command, "Stencils");
  group.add("--boundary", values.boundary, "KIND",
            "What neighbours beyond an edge are: zero, constant, clamp, wrap or reflect; default: zero");
  group.add("--boundary-value", values.boundary_value, "NUMBER",
            "With --boundary constant: the number, converted to the element type");
  group.add("--dims", values.dims, "0,1",
            "The dimensions that offsets in --expr, as in x(-1,0), are along; default: the last ones");
}

void add_window_options(CLI::App& command, ProblemOptions& values) {
  OptionGroup group(command, "Windows");
  group.add("--filter", values.filter, "3x3",
            "Taps of im2col's or a convolution's windows in each dimension of the images, which are images x "
            "extents x "
            "channels; --pad adds zeros around them");
  group.add("--window-step", values.step, "2,2", "Pixels from window to window; default: 1");
  group.add("--dilation", values.dilation, "2,2", "Pixels from tap to tap; default: 1");
  group.add("--outputs", values.outputs, "N",
            "Outputs of a convolution's filter, where no file is the filter");
}

void add_tile_options(CLI::App& command, ProblemOptions& values) {
  OptionGroup tiles(command, "Tiles");
  tiles.add(
      "--box", values.box, "32x64",
      "Tile of the first input, in elements, row-major; for bulk one number. This and what follows, but for "
      "--l2, makes the tile your choice, and not the planner's");
  tiles.add("--element-strides", values.element_strides, "1x2",
            "Take every n-th element of a dimension, 1 to 8");
  tiles.add("--swizzle", values.swizzle, "MODE", "none, 32B, 64B or 128B");
  tiles.add("--interleave", values.interleave, "MODE", "none, 16B or 32B, which no family takes");
  tiles.add("--oob", values.oob, "FILL", "What elements outside the tensor read as: zero or nan");
  tiles.add("--l2", values.l2, "SIZE", "L2 promotion: none, 64B, 128B or 256B; default: 256B");
  OptionGroup pipeline(command, "Pipeline");
  pipeline.add("--stages", values.stages, "N", "Input tiles in flight");
  pipeline.add("--output-stages", values.output_stages, "N", "Output tiles in flight");
  pipeline.add("--warps", values.warps, "N", "Warps that compute");
  pipeline.add("--ctas-per-sm", values.ctas_per_sm, "N", "CTAs that share an SM");
  pipeline.add("--tiles-per-cta", values.tiles_per_cta, "N",
               "Tiles that a CTA does before the next one takes its place; 0: a persistent grid");
}

}  // namespace

std::string_view ProblemOptions::tile_option() const {
  return first_of({{!box.empty(), "--box"},
                   {!element_strides.empty(), "--element-strides"},
                   {!swizzle.empty(), "--swizzle"},
                   {!interleave.empty(), "--interleave"},
                   {!oob.empty(), "--oob"},
                   {stages.has_value(), "--stages"},
                   {output_stages.has_value(), "--output-stages"},
                   {warps.has_value(), "--warps"},
                   {ctas_per_sm.has_value(), "--ctas-per-sm"},
                   {tiles_per_cta.has_value(), "--tiles-per-cta"}});
}

std::string_view ProblemOptions::view_option() const {
  return first_of({{!slice.empty(), "--slice"},
                   {!flip.empty(), "--flip"},
                   {!axes.empty(), "--axes"},
                   {!broadcast.empty(), "--broadcast"},
                   {!pad.empty(), "--pad"},
                   {pad_value != 0, "--pad-value"},
                   {!axis.empty(), "--axis"},
                   {!parts.empty(), "--parts"}});
}

void add_problem_options(CLI::App& command, ProblemOptions& values) {
  command
      .add_option("OPERATION", values.word,
                  fmt::format("{}. Or a family of kernels, of which one is then taken: {}", operation_names(),
                              family_names()))
      ->required()
      ->type_name("");
  add_tensor_options(command, values);
  add_view_options(command, values);
  add_stencil_options(command, values);
  add_window_options(command, values);
  add_tile_options(command, values);
}

void add_compiler_options(CLI::App& command, CompilerOptions& values) {
  OptionGroup group(command, "Compiler and cache");
  group.add("--arch", values.arch, "ARCH", "Architecture; only sm_90a has what the kernels use")
      ->check(one_of({"sm_90a"}));
  group.add_flag("--line-info,!--no-line-info", values.line_info,
                 "Line numbers for profilers, or none; default: with");
  auto* const directory =
      group.add("--cache-dir", values.cache_directory, "FOLDER",
                "Folder of compiled kernels; default: $TMAJIT_CACHE_DIR, else ~/.cache/tmajit");
  group.add_flag("--no-cache", values.no_cache, "Compile anew and keep nothing")->excludes(directory);
}

std::filesystem::path cache_folder(const std::string& directory) {
  return directory.empty() ? tmajit::DiskCache::default_directory() : std::filesystem::path(directory);
}

tmajit::RuntimeOptions runtime_options(const CompilerOptions& options) {
  tmajit::RuntimeOptions result{.cache_directory = std::nullopt};
  if (!options.no_cache) result.cache_directory = cache_folder(options.cache_directory);
  result.compile.arch = options.arch;
  result.compile.line_info = options.line_info;
  return result;
}

}  // namespace jitc
