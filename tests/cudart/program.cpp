#include "cudart/program.hpp"

#include "temporary_folder.hpp"

#include <cstdlib>
#include <fstream>

#include <catch2/catch_test_macros.hpp>

extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*, dim3*, int*);
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int);
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, CUstream_st*);
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*);
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*);
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t);
}

namespace program {
namespace {

const std::string text = R"(
.version 8.0
.target sm_90a
.address_size 64
.file 1 "program.cu"
.global .align 4 .u32 launches = 10;
.const .align 4 .u32 bias = 100;
.extern .shared .align 4 .b8 dynamic[];

.visible .entry scale(.param .u64 values, .param .u32 factor)
.maxntid 256, 1, 1
{
  .reg .b32 %r<8>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [values];
  ld.param.u32 %r5, [factor];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r1, %r2, %r3, %r1;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  ld.global.u32 %r4, [%rd1];
  ld.const.u32 %r6, [bias];
  mad.lo.u32 %r4, %r4, %r5, %r6;
  st.global.u32 [%rd1], %r4;
  ret;
}
.extern .func __assertfail(.param .b64 message, .param .b64 file, .param .b32 line, .param .b64 function, .param .b64 size);
.global .align 1 .b8 said[4] = {110, 62, 48, 0};
.visible .entry asserts()
{
  .reg .b64 %rd<2>;
  mov.u64 %rd1, said;
  cvta.global.u64 %rd1, %rd1;
  {
  .param .b64 p0;
  .param .b64 p1;
  .param .b32 p2;
  .param .b64 p3;
  .param .b64 p4;
  st.param.b64 [p0], %rd1;
  st.param.b64 [p1], %rd1;
  st.param.b32 [p2], 3;
  st.param.b64 [p3], %rd1;
  st.param.b64 [p4], 1;
  call.uni __assertfail, (p0, p1, p2, p3, p4);
  }
  ret;
}
.visible .entry count()
{
  .reg .b32 %r<2>;
  ld.global.u32 %r1, [launches];
  add.u32 %r1, %r1, 1;
  st.global.u32 [launches], %r1;
  ret;
}
.visible .entry past(.param .u64 values)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<2>;
  .loc 1 7 3
  ld.param.u64 %rd1, [values];
  mov.u32 %r1, 1;
  .loc 1 8 3
  st.global.u32 [%rd1+1048576], %r1;
  ret;
}
)";

const TemporaryFolder& folder() {
  static const TemporaryFolder one;
  return one;
}

const bool registered = [] {
  std::ofstream(folder() / "program.ptx") << text;
  ::setenv("TMAJIT_PTX", (folder() / "program.ptx").c_str(), 1);
  ::setenv("TMAJIT_REPORTS", (folder() / "reports.json").c_str(), 1);
  void** const module = __cudaRegisterFatBinary(nullptr);
  const auto function = [&](const void* stub_, const char* name) {
    __cudaRegisterFunction(module, static_cast<const char*>(stub_), nullptr, name, -1, nullptr, nullptr,
                           nullptr, nullptr, nullptr);
  };
  function(stub(&scale), "scale");
  function(stub(&count), "count");
  function(stub(&past), "past");
  function(stub(&asserts), "asserts");
  function(stub(&not_in_ptx), "not_in_ptx");
  __cudaRegisterVar(module, &launches, nullptr, "launches", 0, 4, 0, 0);
  __cudaRegisterVar(module, &bias, nullptr, "bias", 0, 4, 1, 0);
  __cudaRegisterVar(module, &not_in_ptx_, nullptr, "not_in_ptx", 0, 4, 0, 0);
  __cudaRegisterFatBinaryEnd(module);
  return true;
}();

}  // namespace

char launches = 0;
char bias = 0;
char not_in_ptx_ = 0;

cudaError_t launch(const void* kernel, dim3 grid, dim3 block, std::vector<void*> arguments,
                   cudaStream_t stream, std::size_t shared_bytes) {
  REQUIRE(__cudaPushCallConfiguration(grid, block, shared_bytes, stream) == 0);
  cudaKernel_t handle = nullptr;
  REQUIRE(__cudaGetKernel(&handle, kernel) == cudaSuccess);
  dim3 configured_grid, configured_block;
  std::size_t configured_bytes = 0;
  cudaStream_t configured_stream = nullptr;
  REQUIRE(__cudaPopCallConfiguration(&configured_grid, &configured_block, &configured_bytes,
                                     static_cast<void*>(&configured_stream)) == cudaSuccess);
  return __cudaLaunchKernel(handle, configured_grid, configured_block, arguments.data(), configured_bytes,
                            configured_stream);
}

void scale(std::uint32_t* values, std::uint32_t factor) {
  REQUIRE(launch(stub(&scale), 1, 32, {&values, &factor}) == cudaSuccess);
}
void count() {
  REQUIRE(launch(stub(&count), 1, 1, {}) == cudaSuccess);
}
void past(std::uint32_t* values) {
  REQUIRE(launch(stub(&past), 1, 1, {&values}) == cudaSuccess);
}
void asserts() {
  REQUIRE(launch(stub(&asserts), 1, 1, {}) == cudaSuccess);
}
void not_in_ptx() {}

const std::string& ptx() {
  return text;
}

std::vector<std::string> reports() {
  std::ifstream file(folder() / "reports.json");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

std::uint32_t* device_values(const std::vector<std::uint32_t>& values) {
  void* memory = nullptr;
  REQUIRE(cudaMalloc(&memory, 4 * values.size()) == cudaSuccess);
  REQUIRE(cudaMemcpy(memory, values.data(), 4 * values.size(), cudaMemcpyHostToDevice) == cudaSuccess);
  return static_cast<std::uint32_t*>(memory);
}

std::vector<std::uint32_t> host_values(const std::uint32_t* values, std::size_t count_) {
  std::vector<std::uint32_t> result(count_);
  REQUIRE(cudaMemcpy(result.data(), values, 4 * count_, cudaMemcpyDeviceToHost) == cudaSuccess);
  return result;
}

}  // namespace program
