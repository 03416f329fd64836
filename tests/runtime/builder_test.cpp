#include "runtime/builder.hpp"

#include "error_of.hpp"
#include "runtime/fake_device.hpp"
#include "temporary_folder.hpp"

#include <tmajit/tiles.hpp>

#include <array>
#include <fstream>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using tests::error_of;

namespace {

// A toolchain is two plain functions. This controls what they do, and is reset by each test.
struct FakeToolchain {
  std::optional<CompilerIdentity> compiler = CompilerIdentity{13, 0, "build-a", "/somewhere"};
  int compiles = 0;
};
FakeToolchain toolchain;

const CompilerIdentity& identity() {
  if (!toolchain.compiler) throw Error(ErrorCode::unavailable, "NVRTC was not found.");
  return *toolchain.compiler;
}

Artifact fake_compile(const Source& source, const CompileOptions&) {
  ++toolchain.compiles;
  Artifact artifact;
  artifact.entry = source.entry;
  artifact.source = source.text;
  artifact.ptx = "ptx of " + source.text;
  artifact.cubin.resize(100, std::byte{7});
  return artifact;
}

struct Bench {
  Bench() { toolchain = {}; }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  [[nodiscard]] Builder builder(bool on_disk = true) const {
    RuntimeOptions options;
    options.device = device;
    options.cache_directory = on_disk ? std::optional<std::filesystem::path>(folder.path()) : std::nullopt;
    return Builder(std::move(options), {.identity = &identity, .compile = &fake_compile});
  }

  std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>();
  TemporaryFolder folder;
  Source source{"text", "entry", ""};
  KernelRequest kernel{.custom = &source, .shared_bytes = 4096};
};

const Error refused(ErrorCode::invalid_image, "cuLibraryLoadData failed");

}  // namespace

TEST_CASE("a kernel is compiled, stored and loaded, and another builder finds it on disk") {
  const Bench bench;
  const BuiltKernel first = bench.builder().build(bench.kernel);
  CHECK(first.level == CacheLevel::compiled);
  CHECK(first.artifact.ptx == "ptx of text");
  CHECK(first.shared_bytes == 4096);
  CHECK(bench.device->loads == 1);
  CHECK(bench.device->allowed == std::vector<std::uint32_t>{4096});
  CHECK(first.times.key > 0);
  CHECK(first.times.compile > 0);
  CHECK(first.times.store > 0);
  CHECK(first.times.load > 0);

  const BuiltKernel second = bench.builder().build(bench.kernel);
  CHECK(second.level == CacheLevel::disk);
  CHECK(second.key == first.key);
  CHECK(second.artifact.cubin == first.artifact.cubin);
  CHECK(second.times.fetch > 0);
  CHECK(second.times.compile == 0);
  CHECK(second.times.store == 0);
  CHECK(toolchain.compiles == 1);
}

TEST_CASE("without a cache folder every build compiles") {
  const Bench bench;
  CHECK(bench.builder(false).build(bench.kernel).level == CacheLevel::compiled);
  CHECK(bench.builder(false).build(bench.kernel).level == CacheLevel::compiled);
  CHECK(std::filesystem::is_empty(bench.folder.path()));
}

TEST_CASE("a stored kernel is not used for another source or with another NVRTC build") {
  Bench bench;
  const BuiltKernel first = bench.builder().build(bench.kernel);
  toolchain.compiler->build = "build-b";
  CHECK(bench.builder().build(bench.kernel).level == CacheLevel::compiled);
  bench.source.text = "other";
  CHECK(bench.builder().build(bench.kernel).level == CacheLevel::compiled);
  CHECK(toolchain.compiles == 3);
}

TEST_CASE("without a device a kernel is compiled but not loaded") {
  Bench bench;
  bench.device = nullptr;
  const BuiltKernel kernel = bench.builder().build(bench.kernel);
  CHECK_FALSE(kernel.loaded);
  CHECK(kernel.times.load == 0);
}

TEST_CASE("without NVRTC a stored kernel can be loaded, whichever NVRTC compiled it") {
  const Bench bench;
  (void)bench.builder().build(bench.kernel);
  toolchain.compiler->build = "build-b";
  const Source other_source{"other", "entry", ""};
  const KernelRequest other{.custom = &other_source};
  (void)bench.builder().build(other);

  toolchain.compiler = std::nullopt;
  for (const KernelRequest& kernel : {bench.kernel, other}) {
    const BuiltKernel replayed = bench.builder().build(kernel);
    CHECK(replayed.level == CacheLevel::disk);
    CHECK(replayed.artifact.source == kernel.custom->text);
    CHECK(replayed.loaded);
  }
  CHECK(toolchain.compiles == 2);
}

TEST_CASE("the error without NVRTC and without a stored kernel names both causes") {
  const Bench bench;
  toolchain.compiler = std::nullopt;
  const Error error = error_of([&] { return bench.builder().build(bench.kernel); });
  CHECK(error.code() == ErrorCode::unavailable);
  CHECK_THAT(error.what(),
             ContainsSubstring("NVRTC was not found.") && ContainsSubstring(bench.folder.path().string()));
  CHECK_THAT(error_of([&] { return bench.builder(false).build(bench.kernel); }).what(),
             ContainsSubstring("NVRTC was not found."));
}

TEST_CASE("a stored kernel that the driver refuses is compiled again, once, and replaced") {
  const Bench bench;
  (void)bench.builder().build(bench.kernel);
  bench.device->refusals = {refused};
  const BuiltKernel again = bench.builder().build(bench.kernel);
  CHECK(again.level == CacheLevel::compiled);
  CHECK(again.loaded);
  CHECK(toolchain.compiles == 2);
  CHECK(bench.builder().build(bench.kernel).level == CacheLevel::disk);

  bench.device->refusals = {refused, refused};
  CHECK(error_of([&] { return bench.builder().build(bench.kernel); }).code() == ErrorCode::invalid_image);
  CHECK(toolchain.compiles == 3);
}

TEST_CASE("a kernel that was just compiled and that the driver refuses is not compiled again") {
  const Bench bench;
  bench.device->refusals = {refused};
  CHECK(error_of([&] { return bench.builder().build(bench.kernel); }).code() == ErrorCode::invalid_image);
  CHECK(toolchain.compiles == 1);
}

TEST_CASE("a stored kernel is not compiled again because a GPU fails or is out of memory") {
  for (const ErrorCode code : {ErrorCode::device_failed, ErrorCode::out_of_memory}) {
    const Bench bench;
    (void)bench.builder().build(bench.kernel);
    bench.device->refusals = {Error(code, "the CUDA context is dead, or there is no memory")};
    CHECK(error_of([&] { return bench.builder().build(bench.kernel); }).code() == code);
    CHECK(toolchain.compiles == 1);
    CHECK(bench.builder().build(bench.kernel).level == CacheLevel::disk);
  }
}

TEST_CASE("a kernel whose file is damaged is compiled again") {
  const Bench bench;
  (void)bench.builder().build(bench.kernel);
  int damaged = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(bench.folder.path())) {
    if (!file.is_regular_file() || file.file_size() < 200) continue;  // not the kernel, the compiler's record
    std::fstream entry(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    entry.seekp(static_cast<std::streamoff>(file.file_size() / 2));
    entry.put('\xff').put('\xff');
    ++damaged;
  }
  REQUIRE(damaged == 1);
  CHECK(bench.builder().build(bench.kernel).level == CacheLevel::compiled);
  CHECK(bench.builder().build(bench.kernel).level == CacheLevel::disk);
}

TEST_CASE("compilation succeeds if the cache folder cannot be written") {
  Bench bench;
  std::ofstream(bench.folder.path() / "file") << "in the way";
  RuntimeOptions options;
  options.cache_directory = bench.folder.path() / "file" / "cache";
  const Builder builder(options, {.identity = &identity, .compile = &fake_compile});
  CHECK(builder.build(bench.kernel).level == CacheLevel::compiled);
}

TEST_CASE("a plan's source is generated, compiled and stored under the plan's key") {
  const Bench bench;
  const TensorView view = TensorView::contiguous(ElementType::f32, {256, 64});
  const KernelPlan plan =
      plan_tiles({.family = "copy", .destination = {view, 0x200000}, .sources = {{view, 0x100000}}});
  const KernelRequest request{.plan = &plan, .shared_bytes = plan.launch_shape().shared_bytes};
  const BuiltKernel kernel = bench.builder().build(request);
  CHECK(kernel.artifact.source == source(plan).text);
  CHECK(kernel.artifact.entry == "tmajit_copy");
  CHECK(kernel.times.generate > 0);
  CHECK(bench.device->allowed == std::vector{plan.launch_shape().shared_bytes});
  // A plan for other addresses finds the same kernel on disk.
  const KernelPlan at_other_addresses =
      plan_tiles({.family = "copy", .destination = {view, 0x400000}, .sources = {{view, 0x300000}}});
  CHECK(bench.builder().build({.plan = &at_other_addresses, .shared_bytes = request.shared_bytes}).level ==
        CacheLevel::disk);
}

TEST_CASE("an artifact is read from its file again, or compiled again if the file was removed") {
  const Bench bench;
  const Builder builder = bench.builder();
  const BuiltKernel kernel = builder.build(bench.kernel);
  CHECK(kernel.on_disk);
  CHECK(builder.artifact(kernel.key, bench.kernel).ptx == kernel.artifact.ptx);
  CHECK(toolchain.compiles == 1);
  DiskCache(bench.folder.path()).clear();
  CHECK(builder.artifact(kernel.key, bench.kernel).ptx == kernel.artifact.ptx);
  CHECK(toolchain.compiles == 2);
  CHECK(builder.artifact(kernel.key, bench.kernel).cubin == kernel.artifact.cubin);
  CHECK(toolchain.compiles == 2);  // the second compilation stored it again
  DiskCache(bench.folder.path()).clear();
  toolchain.compiler = std::nullopt;
  CHECK(error_of([&] { return builder.artifact(kernel.key, bench.kernel); }).code() ==
        ErrorCode::unavailable);
  CHECK(bench.device->loads == 1);
}

TEST_CASE("a kernel that could not be stored is not marked as on disk") {
  const Bench bench;
  CHECK_FALSE(bench.builder(false).build(bench.kernel).on_disk);
  std::ofstream(bench.folder.path() / "file") << "in the way";
  RuntimeOptions options;
  options.cache_directory = bench.folder.path() / "file" / "cache";
  CHECK_FALSE(
      Builder(options, {.identity = &identity, .compile = &fake_compile}).build(bench.kernel).on_disk);
}

TEST_CASE("custom kernels with other text, entry, expression or shared memory differ, also from plans") {
  const std::vector<Source> sources{{"text", "entry", ""},  {"texT", "entry", ""}, {"text", "entrY", ""},
                                    {"text", "entry", "x"}, {"ext", "entryt", ""}, {"xtext", "entry", ""}};
  std::vector<KernelRequest> requests;
  for (const Source& source : sources) {
    for (const std::uint32_t shared_bytes : {0U, 1U, 10U}) {
      requests.push_back({.custom = &source, .shared_bytes = shared_bytes});
    }
  }
  const TensorView view = TensorView::contiguous(ElementType::f32, std::array<std::uint64_t, 2>{256, 64});
  const KernelPlan plan =
      plan_tiles({.family = "copy", .destination = {view, 0x200000}, .sources = {{view, 0x100000}}});
  requests.push_back({.plan = &plan});
  // A text that equals a plan's key is not mistaken for the plan.
  const Source disguised{std::string(plan.key()), "", ""};
  requests.push_back({.custom = &disguised});
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const KernelOrigin origin(requests[i]);
    for (std::size_t j = 0; j < requests.size(); ++j) CHECK((origin == requests[j]) == (i == j));
    CHECK(origin == KernelOrigin(requests[i]));
  }
  const KernelPlan at_other_addresses =
      plan_tiles({.family = "copy", .destination = {view, 0x400000}, .sources = {{view, 0x300000}}});
  CHECK(KernelOrigin({.plan = &plan}) == KernelRequest{.plan = &at_other_addresses});
  CHECK(KernelRequest{.plan = &plan}.hash() == KernelRequest{.plan = &at_other_addresses}.hash());
}
