#include "driver/api.hpp"

#include <tmajit/device.hpp>
#include <tmajit/error.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("without a driver the error names the missing library and what to install") {
  const driver::Library library = driver::load_library("libno-such-driver.so.1");
  CHECK_FALSE(library.api);
  CHECK_THAT(library.reason, ContainsSubstring("no libno-such-driver.so.1 on this machine"));
  CHECK_THAT(library.reason, ContainsSubstring("install an NVIDIA driver"));
}

TEST_CASE("a library that is not a CUDA driver is refused") {
  const driver::Library library = driver::load_library("libc.so.6");
  CHECK_FALSE(library.api);
  CHECK_THAT(library.reason, ContainsSubstring("libc.so.6 is older than CUDA 12.0"));
}

TEST_CASE("list_gpus, why_no_gpu and open_gpu agree on this machine") {
  const std::vector<DeviceInfo> gpus = list_gpus();
  CHECK(gpus.empty() != why_no_gpu().empty());
  if (gpus.empty()) {
    CHECK_THROWS_WITH(open_gpu(), ContainsSubstring(why_no_gpu()));
  }
  try {
    (void)open_gpu(1000);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::unavailable);
    CHECK_THAT(error.what(), ContainsSubstring("There is no GPU"));
  }
}
