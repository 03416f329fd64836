// Kernels in the style of the CUDA C++ Programming Guide, of cuda::ptx and of CuTe, with the headers of this
// machine. They must compile, give the right results on the simulated device, and have no lint findings.
#include "ptx_alone.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>
#include <tmajit/lint.hpp>
#include <tmajit/own_kernel.hpp>
#include <tmajit/sim.hpp>
#include <tmajit/tensor_view.hpp>

#include <array>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

/// A compiled file of tests/own/theirs on a simulated device. Skips the test if headers are missing.
class Theirs {
 public:
  /// `entry` is any kernel of the file. All of its kernels are compiled.
  Theirs(const std::string& file, const std::string& entry,
         const std::vector<std::filesystem::path>& further = {}) {
    std::vector<std::filesystem::path> folders = further;
    try {
      const auto cuda = cuda_include_folders();
      folders.insert(folders.end(), cuda.begin(), cuda.end());
    } catch (const Error& error) {
      SKIP(error.what());
    }
    std::ostringstream text;
    text << std::ifstream(TMAJIT_THEIRS + ("/" + file)).rdbuf();
    artifact_ =
        compile(source({.text = text.str(), .file = file, .entry = entry, .include_folders = folders}),
                tests::ptx_alone);
    const LintResult lint = lint_ptx(artifact_.ptx, {.name = file, .maps = {}});
    INFO(lint.report);
    CHECK(lint.findings.empty());
    CHECK(lint.unfinished.empty());
  }

  template <class T>
  Buffer upload(const std::vector<T>& values) {
    Buffer buffer(device_, values.size() * sizeof(T));
    device_->memory().copy_in(buffer.address(), std::as_bytes(std::span(values)), nullptr);
    return buffer;
  }
  template <class T>
  std::vector<T> download(const Buffer& buffer) {
    std::vector<T> values(buffer.bytes() / sizeof(T));
    device_->memory().copy_out(std::as_writable_bytes(std::span(values)), buffer.address(), nullptr);
    device_->streams().synchronize(nullptr);  // throws with the reports, if there are any
    return values;
  }
  EncodedTensorMap map(ElementType type, const Buffer& buffer, const Dims& shape, const Dims& box,
                       Swizzle swizzle = Swizzle::none) {
    return device_->maps().encode(TensorMapSpec::of(TensorView::contiguous(type, shape), box, swizzle),
                                  buffer.address());
  }
  template <class... Arguments>
  void run(const std::string& entry, std::uint32_t ctas, std::uint32_t threads, Arguments... arguments) {
    Artifact one = artifact_;
    one.entry = entry;
    const auto kernel = device_->kernels().load(one);
    const std::array<void*, sizeof...(Arguments)> pointers{&arguments...};
    kernel->launch({.grid = {ctas, 1, 1}, .block = {threads, 1, 1}}, pointers, nullptr);
  }

 private:
  std::shared_ptr<SimDevice> device_ = make_sim_device();
  Artifact artifact_;
};

template <class T>
std::vector<T> counted_modulo(std::size_t count, int modulo = 1 << 20) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<T>(i % static_cast<std::size_t>(modulo));
  return values;
}

}  // namespace

TEST_CASE("kernels in the style of CUDA's guide on libcu++'s barriers are right and clean") {
  Theirs guide("guide.cu", "add_one");
  {
    const auto before = counted_modulo<int>(64ULL * 64);
    const Buffer matrix = guide.upload(before);
    guide.run("add_index", 1, 32, guide.map(ElementType::i32, matrix, {64, 64}, {32, 32}), 32, 16);
    auto after = before;
    for (int i = 0; i < 32; ++i) after[16U * 64 + 32 + i] += i;
    CHECK(guide.download<int>(matrix) == after);
  }
  {
    const Buffer data = guide.upload(counted_modulo<int>(1024));
    guide.run("add_one", 1, 64, data.address(), std::uint64_t{512});
    auto after = counted_modulo<int>(1024);
    for (std::size_t i = 512; i < 768; ++i) ++after[i];
    CHECK(guide.download<int>(data) == after);
  }
  {
    const Buffer in = guide.upload(counted_modulo<int>(32ULL * 5));
    const Buffer out = guide.upload(std::vector<int>(32ULL * 5));
    guide.run("produce_consume", 1, 64, in.address(), out.address(), 5);
    auto doubled = counted_modulo<int>(32ULL * 5);
    for (int& value : doubled) value *= 2;
    CHECK(guide.download<int>(out) == doubled);
  }
  {
    const Buffer in = guide.upload(counted_modulo<int>(1000));
    const Buffer bins = guide.upload(std::vector<int>(32));
    guide.run("histogram", 4, 64, in.address(), 1000, bins.address());
    std::vector<int> expected(32);
    for (int i = 0; i < 1000; ++i) ++expected[static_cast<std::size_t>(i % 32)];
    CHECK(guide.download<int>(bins) == expected);
  }
}

TEST_CASE("kernels on cuda::ptx are right and clean") {
  Theirs ptx("ptx.cu", "scale");
  {
    const Buffer in = ptx.upload(counted_modulo<float>(1024));
    const Buffer out = ptx.upload(std::vector<float>(1024));
    ptx.run("scale", 2, 64, in.address(), out.address(), 3.0F);
    auto expected = counted_modulo<float>(1024);
    for (float& value : expected) value *= 3;
    CHECK(ptx.download<float>(out) == expected);
  }
  {
    const auto values = counted_modulo<float>(6ULL * 8 * 32, 97);
    const Buffer in = ptx.upload(values);
    const Buffer sums = ptx.upload(std::vector<float>(8ULL * 32));
    ptx.run("sum_tiles", 2, 32, ptx.map(ElementType::f32, in, {48, 32}, {8, 32}), sums.address(), 3);
    std::vector<float> expected(8ULL * 32);
    for (std::size_t i = 0; i < values.size(); ++i) expected[i % expected.size()] += values[i];
    CHECK(ptx.download<float>(sums) == expected);
  }
  {
    const Buffer in = ptx.upload(counted_modulo<int>(512));
    const Buffer out = ptx.upload(std::vector<int>(1024));
    ptx.run("multicast", 4, 256, in.address(), out.address());
    std::vector<int> expected;
    for (int cta = 0; cta < 4; ++cta) {
      for (int i = 0; i < 256; ++i) expected.push_back(256 * (cta / 2) + i + cta);
    }
    CHECK(ptx.download<int>(out) == expected);
  }
  {
    const Buffer in = ptx.upload(counted_modulo<int>(4));
    const Buffer out = ptx.upload(std::vector<int>(4));
    ptx.run("exchange", 4, 32, in.address(), out.address());
    CHECK(ptx.download<int>(out) == std::vector<int>{1, 0, 3, 2});
  }
}

// A hidden test, which ctest runs after tests/own/fetch_cutlass.sh has fetched CUTLASS's headers.
TEST_CASE("kernels on CuTe", "[.cute]") {
  const char* const folder = std::getenv("TMAJIT_CUTLASS");
  if (folder == nullptr) SKIP("TMAJIT_CUTLASS does not name CUTLASS's include folder");
  Theirs cute("cute.cu", "transpose", {folder});
  {
    const auto values = counted_modulo<float>(32ULL * 32);
    const Buffer in = cute.upload(values);
    const Buffer out = cute.upload(std::vector<float>(32ULL * 32));
    cute.run("transpose", 1, 64, cute.map(ElementType::f32, in, {32, 32}, {32, 32}), out.address());
    std::vector<float> expected(32ULL * 32);
    for (std::size_t i = 0; i < 1024; ++i) expected[i % 32 * 32 + i / 32] = values[i];
    CHECK(cute.download<float>(out) == expected);
  }
  {
    const auto values = counted_modulo<float>(64ULL * 32);
    const Buffer in = cute.upload(values);
    const Buffer out = cute.upload(std::vector<float>(64ULL * 32));
    cute.run("unswizzle", 2, 64, cute.map(ElementType::f32, in, {64, 32}, {32, 32}, Swizzle::b128),
             out.address());
    CHECK(cute.download<float>(out) == values);
  }
  {
    const auto values = counted_modulo<float>(7ULL * 8 * 32, 97);
    const Buffer in = cute.upload(values);
    const Buffer out = cute.upload(std::vector<float>(32));
    cute.run("sum_rows", 1, 64, cute.map(ElementType::f32, in, {56, 32}, {8, 32}), out.address(), 7);
    std::vector<float> expected(32);
    for (std::size_t i = 0; i < values.size(); ++i) expected[i % 32] += values[i];
    CHECK(cute.download<float>(out) == expected);
  }
}
