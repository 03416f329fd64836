// Compiles and caches plans, and checks the errors of launches without a device.
#include "expect.hpp"

#include <tmajit/tmajit.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <optional>
#include <span>
#include <utility>
#include <vector>

using namespace tmajit;

namespace {

Tensor matrix_at(DevicePtr address) {
  return {TensorView::contiguous(ElementType::f32, {64, 64}), address};
}

void every_operation(Runtime& runtime) {
  const Tensor to = matrix_at(1 << 20);
  const Tensor from = matrix_at(2 << 20);
  constexpr ErrorCode no_device = ErrorCode::unavailable;
  expect_error(no_device, [&] { copy(runtime, to, from); });
  expect_error(no_device, [&] { permute(runtime, to, from, {1, 0}); });
  expect_error(no_device, [&] { pad(runtime, to, from, {.before = {0, 0}}); });
  expect_error(no_device, [&] { slice(runtime, to, from, {{}}); });
  expect_error(no_device, [&] { concat(runtime, to, {from}, 0); });
  expect_error(no_device, [&] { split(runtime, {to}, from, 0); });
  expect_error(no_device, [&] { cast(runtime, to, from); });
  expect_error(no_device, [&] { map(runtime, to, "x + 1", {from}); });
  expect_error(no_device, [&] { stencil(runtime, to, "x(0, 1)", {from}); });
  const Tensor one{TensorView::contiguous(ElementType::f32, Dims{}), to.address};
  expect_error(no_device, [&] { reduce(runtime, one, {}, {from}); });
  expect_error(no_device, [&] { tiles(runtime, to, {}, {from}); });
  expect_error(no_device, [&] { scan(runtime, to, {.op = parse<ScanOp>("sum")}, {from}); });
  expect_error(no_device, [&] { rowwise(runtime, {to}, {.steps = "y = x / sum(x)"}, {from}); });
  expect_error(no_device, [&] { rms_norm(runtime, {to}, {from}, {.eps = 1e-5}); });
  const Tensor bytes = Tensor::contiguous(ElementType::i8, {64, 64}, 1 << 29);
  const Tensor square = Tensor::contiguous(ElementType::f32, {64, 64}, 1 << 30);
  expect_error(no_device, [&] {
    cast_transpose(runtime, {bytes}, {.orders = parse<CastOrders>("plain"), .amax = false}, {square});
  });
  const Tensor firsts = Tensor::contiguous(ElementType::f32, {64, 5}, 1 << 29);
  expect_error(no_device, [&] { top_k(runtime, {firsts}, square, {.largest = false}); });
  const Tensor places = Tensor::contiguous(ElementType::i64, {from.view.shape[0]}, 1 << 28);
  expect_error(no_device,
               [&] { gather(runtime, to, from, {places}, {.out_of_range = parse<OutOfRange>("clamp")}); });
  expect_error(no_device, [&] { scatter(runtime, to, from, {places}); });
  expect_error(no_device, [&] { scatter_add(runtime, to, from, {places}); });
  const std::vector<Tensor> sorted{to, Tensor::contiguous(ElementType::i32, {from.view.shape[0]}, 1 << 29),
                                   Tensor::contiguous(ElementType::i32, {3}, 1 << 26),
                                   Tensor::contiguous(ElementType::i32, {4}, 1 << 27)};
  expect_error(no_device, [&] { moe_permute(runtime, sorted, from, places, {.alignment = 2}); });
  const Tensor pairs = Tensor::contiguous(ElementType::i64, {from.view.shape[0], 2}, 1 << 28);
  const Tensor weights = Tensor::contiguous(ElementType::f32, {from.view.shape[0], 2}, 1 << 29);
  expect_error(no_device, [&] { gather_sum(runtime, to, from, pairs, weights); });
  expect_error(no_device, [&] { reduce_into(runtime, to, CombineOp::add, from); });
  expect_error(no_device, [&] { copy_ragged(runtime, {to}, {from}); });
  expect_error(no_device, [&] {
    const RaggedCopy batch(runtime, {to}, {from});
    batch();
    expect(batch.bytes_moved() == batch.plan().bytes_moved() && !batch.kernel().entry().empty(),
           "a RaggedCopy");
  });
  const Tensor images{TensorView::contiguous(ElementType::f32, {64, 1, 64}), 2 << 20};
  expect_error(no_device, [&] { im2col(runtime, to, images, {.filter = {1}}); });
  const Tensor filter{TensorView::contiguous(ElementType::f32, {64, 1, 64}), 3 << 20};
  expect_error(no_device, [&] { convolution(runtime, to, images, filter); });
}

void every_prefetch(Runtime& runtime) {
  const Operation operation = operation::permute(matrix_at(1 << 20), matrix_at(2 << 20), {1, 0});
  const Prefetch made = prefetch(runtime, {operation}, {.threads = 1});
  const Prefetch again = prefetch(runtime, plan_kernels(operation));
  again.cancel();
  made.wait();
  again.wait();
  expect(made.wait_for(std::chrono::milliseconds(1)) && made.done() == made.total() && made.made() == 1 &&
             made.failures().empty(),
         "a Prefetch");
  expect(parse<WhenMissing>(name(WhenMissing::serve)) == WhenMissing::serve, "WhenMissing");
  const MissingKernelError error(MissingKernel{.family = "rows"});
  expect(error.code() == ErrorCode::missing_kernel && error.missing().family == "rows",
         "a MissingKernelError");
}

void every_launch(Runtime& runtime) {
  const Plan move = plan(runtime, operation::permute(matrix_at(1 << 20), matrix_at(2 << 20), {1, 0}));
  expect(move.bytes_moved() == 2ULL * 64 * 64 * 4 && move.operation().moves.size() == 1,
         "a Plan's operation");
  expect(move.kernels().size() == 1 && move.plans().size() == 1, "a Plan's kernels");
  expect(!move.explain().text().empty(), "Plan::explain()");
  const KernelPlan& kernel_plan = move.plans()[0];
  const Kernel& kernel = move.kernels()[0];
  expect(explain(runtime, kernel_plan).kernel == kernel_plan.family().name, "explain()");

  constexpr ErrorCode no_device = ErrorCode::unavailable;
  expect_error(no_device, [&] { move(); });
  expect_error(no_device, [&] { move({3 << 20}, {4 << 20}); });
  expect_error(no_device, [&] { tune(runtime, move); });
  expect_error(no_device, [&] { static_cast<void>(kernel.prepare(kernel_plan)); });
  expect_error(no_device, [&] { kernel.launch(kernel_plan); });
  expect_error(no_device, [&] { kernel.launch(LaunchShape{}, {}); });

  const Tensor between = matrix_at(5 << 20);
  const Fusion fusion = fuse({operation::map(between, "x * 2", {matrix_at(2 << 20)}),
                              operation::map(matrix_at(6 << 20), "x + 1", {between})},
                             {between});
  const ChainPlan chain = plan(runtime, fusion);
  expect(chain.plans().size() == 1 && chain.sentences().size() == 1 && !chain.explanation().empty(),
         "a ChainPlan");
  expect_error(no_device, [&] { chain(); });
  expect_error(no_device, [&] { chain({{between, 7 << 20}}); });
  expect(chain.bytes_moved() == 2ULL * 64 * 64 * 4, "ChainPlan::bytes_moved()");
}

void every_counter(const Runtime& runtime) {
  const Counters numbers = counters(runtime);
  expect(numbers.of(CacheLevel::disk) == 1 && numbers.of(CacheLevel::compiled) == 2, "counters()");
  expect(numbers.served == 0 && numbers.waited == 0 && numbers.swaps == 0, "nothing was served");
  expect(history(runtime).size() == 3, "history()");
  expect(name(history(runtime).front().made_by) == "caller", "name(MadeBy)");
  expect(published_counters("/no/such").empty(), "published_counters()");
  expect(!default_statistics_directory() && !default_dump_directory(), "no variables are set");
  expect(FleetOptions::from_environment().url.empty(), "from_environment()");
}

}  // namespace

void compile_and_cache() {
  const Scratch folder;
  const KernelPlan plan =
      plan_kernels(operation::permute(matrix_at(1 << 20), matrix_at(2 << 20), {1, 0})).at(0);
  expect(cache_key(plan, {}, compiler()) != cache_key(tmajit::source(plan), {}, compiler()), "cache_key()");
  const Source source = tmajit::source(plan);
  const Artifact artifact = compile(source);
  expect(artifact.cubin.size() > 4 && artifact.cubin[1] == std::byte{'E'}, "a cubin is an ELF file");
  expect(artifact.resources.registers > 0, "ptxas reports registers");

  expect(!DiskCache::default_directory().empty(), "default_directory()");
  const DiskCache cache(folder.path);
  const CacheKey key = cache_key(source, {}, compiler());
  expect(key.hex().size() == 64, "hex()");
  expect(cache.why_refused().empty(), "a folder of one's own is no reason to refuse it");
  expect(!cache.fetch(key) && cache.store(key, artifact), "store()");
  cache.remember(compiler());
  expect(cache.known_compilers().size() == 1, "known_compilers()");
  expect(cache.fetch(key).value().cubin == artifact.cubin, "fetch()");
  const DiskCache reader(folder.path, 0, CacheAccess::read_only);
  expect(!reader.store(key, artifact) && reader.fetch(key).has_value(), "a read-only cache");
  expect(cache.verify(/*remove=*/false).entries == 1, "verify()");
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder.path / "entries"))
    if (file.is_regular_file()) expect(read_cache_file(file).key == key, "read_cache_file()");
  expect(cache.trim(default_max_cache_bytes()).remaining == 1, "trim() and default_max_cache_bytes()");
  expect(cache.entries().size() == 1 && cache.clear() == 1 && cache.entries().empty(),
         "entries() and clear()");
  expect(key_fields(plan, {}, compiler()) != key_fields(source, {}, compiler()), "key_fields()");
}

void record_and_pack() {
  const Scratch folder;
  const std::vector<KernelPlan> plans =
      plan_kernels(operation::permute(matrix_at(1 << 20), matrix_at(2 << 20), {1, 0}));
  const Manifest manifest = read_manifest(record_of(plans.at(0), {}).line());
  expect(manifest.kernels.size() == 1 && recording_file().empty(), "read_manifest() and recording_file()");
  const DiskCache cache(folder.path);
  const MadeKernels made = make_kernels(manifest.kernels, cache);
  expect(made.keys == std::vector{manifest.kernels[0].key(compiler())}, "make_kernels() and key()");

  const std::filesystem::path file = folder.path / "some.pack";
  expect(write_pack(file, made.keys, cache, {&compiler(), 1}).kernels == 1, "write_pack()");
  Pack other(file);
  Pack pack(std::move(other));
  other = Pack(file);
  pack = std::move(other);
  expect(pack.kernels() == 1 && pack.keys() == made.keys && pack.has(made.keys[0]), "keys()");
  expect(pack.fetch(made.keys[0]).has_value() && pack.bytes_of(made.keys[0]) < pack.bytes(), "fetch()");
  pack.verify();
  expect(pack.file() == file && pack.why_refused().empty(), "a pack of one's own is used");
  expect(pack.generator() == generator_id() && pack.compilers().size() == 1, "generator() and compilers()");
  expect(shipped_packs().empty(), "no pack is installed");
  const Runtime runtime({.cache_directory = std::nullopt, .packs = {folder.path}});
  expect(runtime.kernel(plans.at(0)).level() == CacheLevel::pack, "a kernel of a pack");
}

void run_without_a_device() {
  try {
    std::printf("%s\n", open_gpu(0)->info().name.c_str());
  } catch (const Error& error) {
    expect(error.code() == ErrorCode::unavailable, "open_gpu() says that there is no GPU");
  }
  expect(list_gpus().empty() != why_no_gpu().empty(), "why_no_gpu() says why list_gpus() is empty");

  const Scratch folder;
  const Chip chip{.name = "NVIDIA H100", .sm_count = 114};
  Runtime first({.cache_directory = folder.path, .chip = chip});
  expect(first.chip() == chip && !first.device(), "chip() and device()");
  const KernelPlan plan =
      tmajit::plan_kernels(operation::permute(matrix_at(1 << 20), matrix_at(2 << 20), {1, 0}), {.chip = chip})
          .at(0);
  expect(first.kernel(plan).level() == CacheLevel::compiled, "a kernel is compiled");

  Runtime second({.cache_directory = folder.path, .chip = chip});
  second = Runtime(std::move(first));  // NOLINT(performance-move-const-arg): copies a handle
  Runtime runtime({.cache_directory = folder.path, .chip = chip});
  const Kernel kernel = runtime.kernel(plan);
  expect(kernel.level() == CacheLevel::disk && kernel.times().compile == 0,
         "the next runtime finds it on disk");
  expect(kernel.key().hex().size() == 64 && !kernel.artifact().ptx.empty(), "key() and artifact()");
  expect(kernel.resources().registers > 0 && !kernel.entry().empty(), "resources() and entry()");
  const Source nothing = custom_source("extern \"C\" __global__ void nothing() {}", "nothing");
  expect(runtime.kernel(nothing).entry() == "nothing", "a kernel of one's own");
  expect_error(ErrorCode::io, [] { (void)source({.text = {}, .include_folders = {"/no/such"}}); });
  try {
    expect(!cuda_include_folders().empty(), "cuda_include_folders()");
  } catch (const Error& error) {
    expect(error.code() == ErrorCode::unavailable, "cuda_include_folders() says that there is no toolkit");
  }
  const KernelConstant constant = KernelConstant::parse("n", "3");
  const Kernel own = runtime.kernel(source({.text = "template <int m> __global__ void k(int* x) { *x = m; }",
                                            .entry = "k<n>",
                                            .constants = {constant}}));
  expect(own.entry() == "_Z1kILi3EEvPi" && constant.literal() == "3", "a template's kernel");
  expect(combinations({{"n", {1, 2}}}).size() == 2, "combinations()");
  expect(combination_number({{"n", {1, 3}}}, {constant}) == 1, "combination_number()");
  expect(OwnKernel{}.with({constant}).constants.size() == 1, "OwnKernel::with()");
  expect_error(ErrorCode::unavailable, [&] {
    (void)tune(runtime, {{"n", {1}}}, [](const auto&) { return OwnVariant{}; });
  });
  expect_error(ErrorCode::unavailable, [&] {
    (void)own.prepare(OwnLaunch{.tensors = {}, .arguments = {AddressArgument{}}, .shape = {}});
  });

  every_counter(runtime);
  every_operation(runtime);
  every_prefetch(runtime);
  every_launch(runtime);
  expect(remember(runtime, {.chip = chip.name, .shape_class = {.family = "rows"}, .choice = plan.choice()}),
         "remember()");
  expect(!tuning(runtime).all().empty(), "tuning()");
  expect(remember(runtime, tuning(runtime).all()), "remember() of several choices");
  expect(tuning(runtime).generation() > 0, "generation() grows with remember()");
}
