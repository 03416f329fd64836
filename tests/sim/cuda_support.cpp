#include "sim/cuda_support.hpp"

#include "ptx_alone.hpp"

#include <tmajit/codegen.hpp>

#include <span>

namespace tests {

CudaOutcome run_cuda(const std::string& source, std::uint32_t threads, bool debug, tmajit::SimOptions options,
                     std::uint32_t cluster) {
  using namespace tmajit;
  CompileOptions compile_options = ptx_alone;
  if (debug) {
    compile_options.line_info = false;
    compile_options.extra = {"-G"};
  }
  const Artifact artifact = compile(custom_source(source, "k", "test.cu"), compile_options);
  options.threads = 1;
  const auto device = make_sim_device(options);
  const auto kernel = device->kernels().load(artifact);
  CudaOutcome outcome;
  outcome.words.resize(4096);
  const Buffer buffer(device, outcome.words.size() * 4);
  device->memory().fill(buffer.address(), std::byte{0}, buffer.bytes(), nullptr);
  std::uint64_t address = buffer.address();
  void* const parameters[] = {&address};
  kernel->launch({.grid = {cluster, 1, 1}, .block = {threads, 1, 1}, .cluster = {cluster, 1, 1}}, parameters,
                 nullptr);
  device->memory().copy_out(std::as_writable_bytes(std::span(outcome.words)), buffer.address(), nullptr);
  outcome.reports = device->reports();
  for (const Report& report : outcome.reports) outcome.text += report.text() + '\n';
  return outcome;
}

}  // namespace tests
