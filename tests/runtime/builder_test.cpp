#include "runtime/builder.hpp"

#include "compile/nvrtc.hpp"
#include "error_of.hpp"
#include "ptx_alone.hpp"
#include "runtime/fake_device.hpp"
#include "temporary_folder.hpp"

#include <tmajit/pack.hpp>
#include <tmajit/tiles.hpp>

#include <array>
#include <cstdlib>
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

struct BuilderFixture {
  BuilderFixture() { toolchain = {}; }
  BuilderFixture(const BuilderFixture&) = delete;
  BuilderFixture& operator=(const BuilderFixture&) = delete;

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
  const BuilderFixture fixture;
  const BuiltKernel first = fixture.builder().build(fixture.kernel);
  CHECK(first.level == CacheLevel::compiled);
  CHECK(first.artifact.ptx == "ptx of text");
  CHECK(first.shared_bytes == 4096);
  CHECK(fixture.device->loads == 1);
  CHECK(fixture.device->allowed == std::vector<std::uint32_t>{4096});
  CHECK(first.times.key > 0);
  CHECK(first.times.compile > 0);
  CHECK(first.times.store > 0);
  CHECK(first.times.load > 0);

  const BuiltKernel second = fixture.builder().build(fixture.kernel);
  CHECK(second.level == CacheLevel::disk);
  CHECK(second.key == first.key);
  CHECK(second.artifact.cubin == first.artifact.cubin);
  CHECK(second.times.fetch > 0);
  CHECK(second.times.compile == 0);
  CHECK(second.times.store == 0);
  CHECK(toolchain.compiles == 1);
}

TEST_CASE("without a cache folder every build compiles") {
  const BuilderFixture fixture;
  CHECK(fixture.builder(false).build(fixture.kernel).level == CacheLevel::compiled);
  CHECK(fixture.builder(false).build(fixture.kernel).level == CacheLevel::compiled);
  CHECK(std::filesystem::is_empty(fixture.folder.path()));
}

TEST_CASE("a stored kernel is not used for another source or with another NVRTC build") {
  BuilderFixture fixture;
  const BuiltKernel first = fixture.builder().build(fixture.kernel);
  toolchain.compiler->build = "build-b";
  CHECK(fixture.builder().build(fixture.kernel).level == CacheLevel::compiled);
  fixture.source.text = "other";
  CHECK(fixture.builder().build(fixture.kernel).level == CacheLevel::compiled);
  CHECK(toolchain.compiles == 3);
}

TEST_CASE("a kernel of a pack needs no NVRTC; its source is made anew if there is one") {
  const BuilderFixture fixture;
  const CacheKey key = fixture.builder().build(fixture.kernel).key;
  const std::filesystem::path pack = fixture.folder.path() / "some.pack";
  (void)write_pack(pack, {&key, 1}, DiskCache(fixture.folder.path()), {&*toolchain.compiler, 1});
  RuntimeOptions options{.device = fixture.device, .cache_directory = std::nullopt, .packs = {pack}};
  const Builder builder(options, {.identity = &identity, .compile = &fake_compile});

  CHECK(builder.artifact(key, fixture.kernel).source == "text");
  toolchain.compiler = std::nullopt;
  const BuiltKernel built = builder.build(fixture.kernel);
  CHECK(built.level == CacheLevel::pack);
  CHECK(built.key == key);
  CHECK(built.loaded);
  const Artifact held = builder.artifact(key, fixture.kernel);
  CHECK(held.source.empty());
  CHECK(held.cubin.size() == 100);
}

TEST_CASE("without a device a kernel is compiled but not loaded") {
  BuilderFixture fixture;
  fixture.device = nullptr;
  const BuiltKernel kernel = fixture.builder().build(fixture.kernel);
  CHECK_FALSE(kernel.loaded);
  CHECK(kernel.times.load == 0);
}

TEST_CASE("without NVRTC a stored kernel can be loaded, whichever NVRTC compiled it") {
  const BuilderFixture fixture;
  (void)fixture.builder().build(fixture.kernel);
  toolchain.compiler->build = "build-b";
  const Source other_source{"other", "entry", ""};
  const KernelRequest other{.custom = &other_source};
  (void)fixture.builder().build(other);

  toolchain.compiler = std::nullopt;
  for (const KernelRequest& kernel : {fixture.kernel, other}) {
    const BuiltKernel replayed = fixture.builder().build(kernel);
    CHECK(replayed.level == CacheLevel::disk);
    CHECK(replayed.artifact.source == kernel.custom->text);
    CHECK(replayed.loaded);
  }
  CHECK(toolchain.compiles == 2);
}

TEST_CASE(
    "without NVRTC the simulated device runs PTX that was compiled without a cubin, and a GPU does not") {
  const BuilderFixture fixture;
  const RuntimeOptions ptx_alone{
      .device = fixture.device, .cache_directory = fixture.folder.path(), .compile = tests::ptx_alone};
  const CacheKey key =
      Builder(ptx_alone, {.identity = &identity, .compile = &fake_compile}).build(fixture.kernel).key;

  toolchain.compiler = std::nullopt;
  CHECK(error_of([&] { return fixture.builder().build(fixture.kernel); }).code() == ErrorCode::unavailable);
  fixture.device->is_simulated = true;
  const BuiltKernel replayed = fixture.builder().build(fixture.kernel);
  CHECK(replayed.level == CacheLevel::disk);
  CHECK(replayed.key == key);
  CHECK(replayed.loaded);
  // With NVRTC, the caller may want to know the cubin's registers.
  toolchain.compiler = FakeToolchain{}.compiler;
  CHECK(fixture.builder().build(fixture.kernel).level == CacheLevel::compiled);
}

TEST_CASE("the error without NVRTC and without a stored kernel names both causes") {
  const BuilderFixture fixture;
  toolchain.compiler = std::nullopt;
  const Error error = error_of([&] { return fixture.builder().build(fixture.kernel); });
  CHECK(error.code() == ErrorCode::unavailable);
  CHECK_THAT(error.what(),
             ContainsSubstring("NVRTC was not found.") && ContainsSubstring(fixture.folder.path().string()));
  CHECK_THAT(error_of([&] { return fixture.builder(false).build(fixture.kernel); }).what(),
             ContainsSubstring("NVRTC was not found."));
}

TEST_CASE("a stored kernel that the driver refuses is compiled again, once, and replaced") {
  const BuilderFixture fixture;
  (void)fixture.builder().build(fixture.kernel);
  fixture.device->refusals = {refused};
  const BuiltKernel again = fixture.builder().build(fixture.kernel);
  CHECK(again.level == CacheLevel::compiled);
  CHECK(again.loaded);
  CHECK(toolchain.compiles == 2);
  CHECK(fixture.builder().build(fixture.kernel).level == CacheLevel::disk);

  fixture.device->refusals = {refused, refused};
  CHECK(error_of([&] { return fixture.builder().build(fixture.kernel); }).code() == ErrorCode::invalid_image);
  CHECK(toolchain.compiles == 3);
}

TEST_CASE("a kernel that was just compiled and that the driver refuses is not compiled again") {
  const BuilderFixture fixture;
  fixture.device->refusals = {refused};
  CHECK(error_of([&] { return fixture.builder().build(fixture.kernel); }).code() == ErrorCode::invalid_image);
  CHECK(toolchain.compiles == 1);
}

TEST_CASE("a stored kernel is not compiled again because a GPU fails or is out of memory") {
  for (const ErrorCode code : {ErrorCode::device_failed, ErrorCode::out_of_memory}) {
    const BuilderFixture fixture;
    (void)fixture.builder().build(fixture.kernel);
    fixture.device->refusals = {Error(code, "the CUDA context is dead, or there is no memory")};
    CHECK(error_of([&] { return fixture.builder().build(fixture.kernel); }).code() == code);
    CHECK(toolchain.compiles == 1);
    CHECK(fixture.builder().build(fixture.kernel).level == CacheLevel::disk);
  }
}

TEST_CASE("a kernel whose file is damaged is compiled again") {
  const BuilderFixture fixture;
  (void)fixture.builder().build(fixture.kernel);
  int damaged = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(fixture.folder.path())) {
    if (!file.is_regular_file() || file.file_size() < 200) continue;  // not the kernel, the compiler's record
    std::fstream entry(file.path(), std::ios::in | std::ios::out | std::ios::binary);
    entry.seekp(static_cast<std::streamoff>(file.file_size() / 2));
    entry.put('\xff').put('\xff');
    ++damaged;
  }
  REQUIRE(damaged == 1);
  CHECK(fixture.builder().build(fixture.kernel).level == CacheLevel::compiled);
  CHECK(fixture.builder().build(fixture.kernel).level == CacheLevel::disk);
}

TEST_CASE("compilation succeeds if the cache folder cannot be written") {
  BuilderFixture fixture;
  std::ofstream(fixture.folder.path() / "file") << "in the way";
  RuntimeOptions options;
  options.cache_directory = fixture.folder.path() / "file" / "cache";
  const Builder builder(options, {.identity = &identity, .compile = &fake_compile});
  CHECK(builder.build(fixture.kernel).level == CacheLevel::compiled);
}

TEST_CASE("a plan's source is generated, compiled and stored under the plan's key") {
  const BuilderFixture fixture;
  const TensorView view = TensorView::contiguous(ElementType::f32, {256, 64});
  const KernelPlan plan =
      plan_tiles({.family = "copy", .destination = {view, 0x200000}, .sources = {{view, 0x100000}}});
  const KernelRequest request{.plan = &plan, .shared_bytes = plan.launch_shape().shared_bytes};
  const BuiltKernel kernel = fixture.builder().build(request);
  CHECK(kernel.artifact.source == source(plan).text);
  CHECK(kernel.artifact.entry == "tmajit_copy");
  CHECK(kernel.times.generate > 0);
  CHECK(fixture.device->allowed == std::vector{plan.launch_shape().shared_bytes});
  // A plan for other addresses finds the same kernel on disk.
  const KernelPlan at_other_addresses =
      plan_tiles({.family = "copy", .destination = {view, 0x400000}, .sources = {{view, 0x300000}}});
  CHECK(fixture.builder().build({.plan = &at_other_addresses, .shared_bytes = request.shared_bytes}).level ==
        CacheLevel::disk);
}

TEST_CASE(
    "a plan's key is that of its facts, or of its source if templates may change while a program runs") {
  const auto plan_of = [](std::uint64_t rows, ElementType type) {
    const TensorView view = TensorView::contiguous(type, {rows, 64});
    return plan_tiles({.family = "copy", .destination = {view, 0x200000}, .sources = {{view, 0x100000}}});
  };
  const CompilerIdentity other{13, 0, "build-b", "/somewhere"};
  const KernelPlan plan = plan_of(256, ElementType::f32);
  const CompilerIdentity compiler = *FakeToolchain{}.compiler;
  const CacheKey key = cache_key(plan, {}, compiler);
  CHECK(cache_key(plan_of(512, ElementType::f32), {}, compiler) == key);
  CHECK(cache_key(plan_of(256, ElementType::u8), {}, compiler) != key);
  CHECK(cache_key(plan, {.arch = "compute_90a"}, compiler) != key);
  CHECK(cache_key(plan, {}, other) != key);
  CHECK(cache_key(source(plan), {}, compiler) != key);

  const TemporaryFolder templates;
  ::setenv("TMAJIT_TEMPLATES", templates.path().c_str(), 1);
  CHECK(generator_id().empty());
  CHECK(cache_key(plan, {}, compiler) == cache_key(source(plan), {}, compiler));
  ::unsetenv("TMAJIT_TEMPLATES");
  CHECK(cache_key(plan, {}, compiler) == key);
}

TEST_CASE("a kernel of an NVRTC that is still installed is used without loading NVRTC") {
  const BuilderFixture fixture;
  const auto nvrtc = fixture.folder.path() / "libnvrtc.so";
  std::ofstream(nvrtc) << "an NVRTC";
  toolchain.compiler->path = nvrtc;
  toolchain.compiler->stamp = file_stamp(nvrtc);
  (void)fixture.builder().build(fixture.kernel);
  toolchain.compiler = std::nullopt;
  const auto times = fixture.builder().build(fixture.kernel).times;
  CHECK(times.key == 0);
  std::ofstream(nvrtc) << "a newer NVRTC";
  toolchain.compiler = CompilerIdentity{13, 1, "build-b", nvrtc, file_stamp(nvrtc)};
  CHECK(fixture.builder().build(fixture.kernel).level == CacheLevel::compiled);
}

TEST_CASE("an artifact is read from its file again, or compiled again if the file was removed") {
  const BuilderFixture fixture;
  const Builder builder = fixture.builder();
  const BuiltKernel kernel = builder.build(fixture.kernel);
  CHECK(kernel.is_kept);
  CHECK(builder.artifact(kernel.key, fixture.kernel).ptx == kernel.artifact.ptx);
  CHECK(toolchain.compiles == 1);
  DiskCache(fixture.folder.path()).clear();
  CHECK(builder.artifact(kernel.key, fixture.kernel).ptx == kernel.artifact.ptx);
  CHECK(toolchain.compiles == 2);
  CHECK(builder.artifact(kernel.key, fixture.kernel).cubin == kernel.artifact.cubin);
  CHECK(toolchain.compiles == 2);  // the second compilation stored it again
  DiskCache(fixture.folder.path()).clear();
  toolchain.compiler = std::nullopt;
  CHECK(error_of([&] { return builder.artifact(kernel.key, fixture.kernel); }).code() ==
        ErrorCode::unavailable);
  CHECK(fixture.device->loads == 1);
}

TEST_CASE("a kernel that could not be stored is not marked as on disk") {
  const BuilderFixture fixture;
  CHECK_FALSE(fixture.builder(false).build(fixture.kernel).is_kept);
  std::ofstream(fixture.folder.path() / "file") << "in the way";
  RuntimeOptions options;
  options.cache_directory = fixture.folder.path() / "file" / "cache";
  CHECK_FALSE(
      Builder(options, {.identity = &identity, .compile = &fake_compile}).build(fixture.kernel).is_kept);
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
