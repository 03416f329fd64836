// Tests how much memory a runtime's kernels take: one kernel, and more kernels than the runtime keeps.
#include "runtime/kernel_table.hpp"

#include "lib/allocations.hpp"
#include "runtime/fake_device.hpp"
#include "temporary_folder.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/tiles.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

const CompilerIdentity& fixed_identity() {
  static const CompilerIdentity identity{13, 0, "build", "/somewhere"};
  return identity;
}

/// An artifact of a typical size.
Artifact large_artifact(const Source& source, const CompileOptions&) {
  Artifact artifact;
  artifact.entry = source.entry;
  artifact.source = source.text;
  artifact.ptx.assign(40'000, 'p');
  artifact.cubin.resize(50'000, std::byte{7});
  artifact.log.assign(500, 'l');
  artifact.resources.registers = 32;
  return artifact;
}

constexpr Toolchain large_toolchain{.identity = &fixed_identity, .compile = &large_artifact};

struct TableFixture {
  std::shared_ptr<FakeDevice> device = std::make_shared<FakeDevice>();
  TemporaryFolder folder;

  [[nodiscard]] RuntimeOptions options(bool on_disk, std::size_t capacity) const {
    RuntimeOptions options;
    options.device = device;
    options.cache_directory = on_disk ? std::optional<std::filesystem::path>(folder.path()) : std::nullopt;
    options.max_cached_kernels = capacity;
    return options;
  }
};

/// The kernel of a source that differs for each number `n`.
Kernel numbered_kernel(KernelTable& table, std::size_t n) {
  const Source source{"kernel number " + std::to_string(n), "entry", ""};
  return table.get({.custom = &source});
}

}  // namespace

TEST_CASE("a kernel in memory has only what launches need; its artifact is on disk") {
  const TableFixture fixture;
  constexpr std::size_t count = 100;
  const auto bytes_of_kernel = [&](bool on_disk) {
    KernelTable table(fixture.options(on_disk, 2 * count), large_toolchain);
    (void)numbered_kernel(table, 0);
    const std::size_t before = heap_bytes();
    for (std::size_t n = 1; n <= count; ++n) (void)numbered_kernel(table, n);
    const std::size_t bytes = (heap_bytes() - before) / count;
    const Kernel kernel = numbered_kernel(table, 1);
    CHECK(kernel.entry() == "entry");
    CHECK(kernel.resources().registers == 32);
    CHECK(kernel.artifact().source == "kernel number 1");
    CHECK(kernel.artifact().cubin.size() == 50'000);
    CHECK(heap_bytes() - before < (count + 1) * bytes + 20'000);  // requested artifacts are not cached
    return bytes;
  };
  const std::size_t with_cache = bytes_of_kernel(true);
  const std::size_t without_cache = bytes_of_kernel(false);
  std::cout << "  bytes of a kernel: " << with_cache << " with a cache directory, " << without_cache
            << " without\n";
  CHECK(with_cache < 2500);
  CHECK(without_cache > 90'000);
}

TEST_CASE("a plan's kernel keeps the plan, from which it can be compiled again, and little else") {
  const TableFixture fixture;
  KernelTable table(fixture.options(true, 100), large_toolchain);
  const auto ask = [&](int number) {
    const std::array<std::uint64_t, 2> shape{256, 64};
    const TensorView view = TensorView::contiguous(ElementType::f32, shape);
    const KernelPlan plan = plan_tiles({.family = "map",
                                        .destination = {view, 0x200000},
                                        .sources = {{view, 0x100000}},
                                        .expression = "x + " + std::to_string(number)});
    return table.get({.plan = &plan, .shared_bytes = plan.launch_shape().shared_bytes});
  };
  (void)ask(0);
  constexpr int count = 20;
  const std::size_t before = heap_bytes();
  for (int n = 1; n <= count; ++n) (void)ask(n);
  const std::size_t bytes = (heap_bytes() - before) / count;
  std::cout << "  bytes of a kernel of a plan: " << bytes << '\n';
  CHECK(bytes < 8000);
  CHECK(ask(1).artifact().source.find("x + 1") != std::string::npos);
}

TEST_CASE("after 10,000 kernels memory is used only for the cached ones") {
  const TableFixture fixture;
  constexpr std::size_t limit = 100;
  KernelTable table(fixture.options(false, limit), large_toolchain);
  const Kernel evicted = numbered_kernel(table, 0);
  for (std::size_t n = 1; n < 2 * limit; ++n) (void)numbered_kernel(table, n);
  const std::size_t at_limit = heap_bytes();
  std::size_t peak_bytes = 0;
  for (std::size_t n = 2 * limit; n < 10'000; ++n) {
    (void)numbered_kernel(table, n);
    peak_bytes = std::max(peak_bytes, heap_bytes());
    if (fixture.device->kernels_alive() > static_cast<int>(limit) + 1)
      FAIL("more kernels are loaded than may be cached");
  }
  CHECK(table.size() == limit);
  CHECK(fixture.device->kernels_alive() == static_cast<int>(limit) + 1);  // the caller holds one
  CHECK(peak_bytes < at_limit + 100'000);  // there is one more kernel while the next is made
  CHECK(evicted.artifact().source == "kernel number 0");
  // An evicted kernel is made again.
  const int loads = fixture.device->loads;
  (void)numbered_kernel(table, 1);
  CHECK(fixture.device->loads == loads + 1);
}

TEST_CASE("a kernel to which the caller has a handle is not evicted") {
  const TableFixture fixture;
  KernelTable table(fixture.options(false, 10), large_toolchain);
  for (std::size_t n = 1; n < 200; ++n) {
    (void)numbered_kernel(table, 0);
    (void)numbered_kernel(table, n);
  }
  CHECK(fixture.device->loads == 200);
}

TEST_CASE("kernels and their artifacts can be used after their table was destroyed") {
  const TableFixture fixture;
  std::optional<Kernel> kernel;
  {
    KernelTable table(fixture.options(true, 10), large_toolchain);
    kernel = numbered_kernel(table, 5);
  }
  CHECK(fixture.device->kernels_alive() == 1);
  CHECK(kernel->artifact().source == "kernel number 5");
  DiskCache(fixture.folder.path()).clear();
  CHECK(kernel->artifact().source == "kernel number 5");  // compiled again
  CHECK(fixture.device->loads == 1);
}
