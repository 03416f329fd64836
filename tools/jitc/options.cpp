#include "options.hpp"

#include <tmajit/cache.hpp>

#include <CLI/CLI.hpp>

namespace jitc {
namespace {

constexpr auto compiler = "Compiler and cache";

}  // namespace

void add_tensor_options(CLI::App& command, KernelOptions& values) {
  command.add_option("--in", values.in, "An input as .npy; repeat it for x0, x1 …")
      ->type_name("FILE")
      ->group(tensors_group)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option(
          "--dtype,--type", values.dtypes,
          "Element types: one for all, or the inputs' and then the output's. Types that NumPy lacks travel "
          "as bit patterns: bf16 as u2, e4m3 and e5m2 as u1, f32_ftz, tf32 and tf32_ftz as f4. "
          "Default: the files', else f32")
      ->type_name("TYPE[,TYPE…]")
      ->group(tensors_group)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option("--out-dtype,--out-type", values.out_dtype,
                  "Element type of the output; default: the first input's")
      ->type_name("TYPE")
      ->group(tensors_group);
  command
      .add_option(
          "--shape", values.shape,
          "Shape of the inputs, row-major; default: the files'; a family's else the box's, else 4096x4096")
      ->type_name("128x64")
      ->group(tensors_group);
  command
      .add_option("--strides", values.strides,
                  "Strides of the inputs on the device, in elements; repeat it for each input")
      ->type_name("4096,1")
      ->group(tensors_group)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option("--out-strides", values.out_strides, "Strides of the output on the device, in elements")
      ->type_name("4096,1")
      ->group(tensors_group);
  command
      .add_option("--inputs", values.inputs,
                  "Inputs of a map or concat without files; default: as many as --expr reads, or 2")
      ->type_name("1…8")
      ->group(tensors_group);
  command
      .add_option(
          "--expr", values.expression,
          "What map and bulk compute: C over x (or x0 … x7), g[d], the element's coordinates in the output, "
          "and in families t[d] and tile_index, those in its tile and its number there")
      ->type_name("'x*2+1'")
      ->group(tensors_group);
}

void add_kernel_options(CLI::App& command, KernelOptions& values) {
  command
      .add_option(
          "FAMILY", values.family,
          "copy: tile by tile through shared memory. map: out = f(inputs), see --expr. "
          "bulk: the same in one dimension, any length. snapshot: the raw shared-memory image of every tile")
      ->required()
      ->type_name("");
  add_tensor_options(command, values);

  command
      .add_option("--box", values.box, "Tile of the first input, in elements, row-major; for bulk one number")
      ->type_name("32x64")
      ->group(tiles_group);
  command
      .add_option("--element-strides", values.element_strides,
                  "Take every n-th element of a dimension, 1 to 8")
      ->type_name("1x2")
      ->group(tiles_group);
  command.add_option("--swizzle", values.swizzle, "none, 32B, 64B or 128B")
      ->type_name("MODE")
      ->group(tiles_group);
  command.add_option("--interleave", values.interleave, "none, 16B or 32B, which no family takes")
      ->type_name("MODE")
      ->group(tiles_group);
  command.add_option("--l2", values.l2, "L2 promotion: none, 64B, 128B or 256B")
      ->type_name("SIZE")
      ->group(tiles_group);
  command.add_option("--oob", values.oob, "What elements outside the tensor read as: zero or nan")
      ->type_name("FILL")
      ->group(tiles_group);

  command.add_option("--stages", values.stages, "Input tiles in flight")
      ->type_name("N")
      ->group(pipeline_group);
  command.add_option("--output-stages", values.output_stages, "Output tiles in flight")
      ->type_name("N")
      ->group(pipeline_group);
  command.add_option("--warps", values.warps, "Warps that compute")->type_name("N")->group(pipeline_group);
  command.add_option("--ctas-per-sm", values.ctas_per_sm, "CTAs that share an SM")
      ->type_name("N")
      ->group(pipeline_group);
  command
      .add_option("--tiles-per-cta", values.tiles_per_cta,
                  "Tiles that a CTA does before the next one takes its place; 0: a persistent grid")
      ->type_name("N")
      ->group(pipeline_group);
}

void add_compiler_options(CLI::App& command, CompilerOptions& values) {
  command.add_option("--arch", values.arch, "Architecture; only sm_90a has what the kernels use")
      ->check(CLI::IsMember({"sm_90a"}))
      ->type_name("ARCH")
      ->group(compiler);
  command
      .add_flag("--line-info,!--no-line-info", values.line_info,
                "Line numbers for profilers, or none; default: with")
      ->group(compiler);
  auto* const directory =
      command
          .add_option("--cache-dir", values.cache_directory,
                      "Folder of compiled kernels; default: $TMAJIT_CACHE_DIR, else ~/.cache/tmajit")
          ->type_name("FOLDER")
          ->group(compiler);
  command.add_flag("--no-cache", values.no_cache, "Compile anew and keep nothing")
      ->excludes(directory)
      ->group(compiler);
}

tmajit::RuntimeOptions runtime_options(const CompilerOptions& options) {
  tmajit::RuntimeOptions result{.cache_directory = std::nullopt};
  if (!options.no_cache) {
    result.cache_directory = options.cache_directory.empty() ? tmajit::DiskCache::default_directory()
                                                             : std::filesystem::path(options.cache_directory);
  }
  result.compile.arch = options.arch;
  result.compile.line_info = options.line_info;
  return result;
}

}  // namespace jitc
