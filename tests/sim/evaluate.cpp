#include "sim/evaluate.hpp"

#include "sim/support.hpp"

using namespace tmajit;

namespace tests {

Words evaluate(const std::string& body, const Words& a, const Words& b, const Words& c) {
  const auto sim = make_sim_device({.threads = 1});
  const std::size_t n = a.size();
  const auto kernel = sim->kernels().load(tests::module_of(
      ".reg .pred %p<10>;\n.reg .b16 %h<10>;\n.reg .b32 %r<10>;\n.reg .b32 %t<10>;\n.reg .f32 %f<10>;\n.reg "
      ".f64 %fd<10>;\n"
      ".reg .b64 %rd<30>;\n"
      "mov.u32 %t1, %tid.x;\nmov.u32 %t2, %ctaid.x;\nmad.lo.u32 %t1, %t2, 32, %t1;\n"
      "ld.param.u64 %rd20, [p4];\ncvt.u64.u32 %rd21, %t1;\nsetp.ge.u64 %p8, %rd21, %rd20;\n@%p8 ret;\n"
      "shl.b64 %rd21, %rd21, 3;\n"
      "ld.param.u64 %rd10, [p0];\nadd.u64 %rd10, %rd10, %rd21;\nld.global.u64 %rd1, [%rd10];\n"
      "ld.param.u64 %rd11, [p1];\nadd.u64 %rd11, %rd11, %rd21;\nld.global.u64 %rd2, [%rd11];\n"
      "ld.param.u64 %rd12, [p2];\nadd.u64 %rd12, %rd12, %rd21;\nld.global.u64 %rd3, [%rd12];\n"
      "mov.b64 {%r1, _}, %rd1;\nmov.b64 {%r2, _}, %rd2;\nmov.b64 {%r3, _}, %rd3;\nmov.b64 %rd9, 0;\nmov.b32 "
      "%r9, 0;\n"
      "mov.b32 %f1, %r1;\nmov.b32 %f2, %r2;\nmov.b32 %f3, %r3;\n"
      "mov.b64 %fd1, %rd1;\nmov.b64 %fd2, %rd2;\nmov.b64 %fd3, %rd3;\n"
      "mov.b32 {%h1, _}, %r1;\nmov.b32 {%h2, _}, %r2;\nmov.b32 {%h3, _}, %r3;\n" +
          body +
          "\nld.param.u64 %rd13, [p3];\nadd.u64 %rd13, %rd13, %rd21;\nst.global.u64 [%rd13], %rd9;\nret;",
      5));
  Words result(n);
  std::vector<Buffer> buffers;
  std::uint64_t addresses[4];
  const Words* inputs[] = {&a, &b, &c};
  for (std::size_t i = 0; i < 4; ++i) {
    buffers.emplace_back(sim, 8 * n);
    addresses[i] = buffers.back().address();
    Words values = i < 3 ? *inputs[i] : Words{};
    values.resize(n);
    sim->memory().copy_in(addresses[i], std::as_bytes(std::span(values)), nullptr);
  }
  std::uint64_t count = n;
  void* const parameters[] = {&addresses[0], &addresses[1], &addresses[2], &addresses[3], &count};
  kernel->launch({.grid = {static_cast<std::uint32_t>((n + 31) / 32), 1, 1}, .block = {32, 1, 1}}, parameters,
                 nullptr);
  sim->streams().synchronize(nullptr);
  sim->memory().copy_out(std::as_writable_bytes(std::span(result)), addresses[3], nullptr);
  return result;
}

}  // namespace tests
