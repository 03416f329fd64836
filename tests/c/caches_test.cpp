// The folders of kernels that a runtime of the C interface uses.
#include "c/call_error.hpp"
#include "temporary_folder.hpp"

#include <tmajit/c.h>
#include <tmajit/cache.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace caches_test {
namespace {

/// Makes a kernel with a runtime of these options. Returns the status of the call that fails, if any.
tmajit_status make_kernel(const tmajit_runtime_options& options, tmajit_error** error) {
  tmajit_runtime* runtime = nullptr;
  if (const tmajit_status status = tmajit_runtime_make(&options, &runtime, error); status != TMAJIT_OK)
    return status;
  const std::string text = "extern \"C\" __global__ void own(float* x) { *x = 1; }";
  tmajit_kernel_source source{};
  source.size = sizeof source;
  source.text = text.c_str();
  tmajit_kernel* kernel = nullptr;
  const tmajit_status status = tmajit_kernel_make(runtime, &source, &kernel, error);
  tmajit_kernel_destroy(kernel);
  tmajit_runtime_destroy(runtime);
  return status;
}

tmajit_runtime_options options_with(const std::string& folder) {
  tmajit_runtime_options options{};
  options.size = sizeof options;
  options.device = TMAJIT_DEVICE_NONE;
  options.cache_directory = folder.c_str();
  return options;
}

std::size_t kernels_in(const std::string& folder) {
  return tmajit::DiskCache(folder).entries().size();
}

}  // namespace

TEST_CASE("a runtime finds kernels in read-only folders, and bounds its own folder") {
  const TemporaryFolder folder;
  const std::string image = folder / "image";
  const std::string own = folder / "own";
  REQUIRE(make_kernel(options_with(image), nullptr) == TMAJIT_OK);
  CHECK(kernels_in(image) == 1);

  tmajit_runtime_options options = options_with(own);
  const std::vector<const char*> read_only{image.c_str()};
  options.read_only_caches = read_only.data();
  options.read_only_cache_count = read_only.size();
  REQUIRE(make_kernel(options, nullptr) == TMAJIT_OK);
  CHECK(kernels_in(own) == 0);

  options = options_with(own);
  options.max_cache_bytes = UINT64_MAX;
  REQUIRE(make_kernel(options, nullptr) == TMAJIT_OK);
  CHECK(kernels_in(own) == 1);
}

TEST_CASE("a read-only folder without a path is refused") {
  const TemporaryFolder folder;
  const std::string own = folder / "own";
  tmajit_runtime_options options = options_with(own);
  options.read_only_cache_count = 1;
  tests::CallError error;
  CHECK(make_kernel(options, error.out()) == TMAJIT_INVALID_ARGUMENT);
  CHECK_THAT(error.text(), Catch::Matchers::ContainsSubstring("read_only_caches"));
  const std::vector<const char*> null{nullptr};
  options.read_only_caches = null.data();
  CHECK(make_kernel(options, error.out()) == TMAJIT_INVALID_ARGUMENT);
  CHECK_THAT(error.text(), Catch::Matchers::ContainsSubstring("read_only_caches"));
}

}  // namespace caches_test
