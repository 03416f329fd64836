#include "device.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

namespace stand_in {
namespace {

/// Few multiprocessors: persistent kernels then have several tiles a CTA also of small problems.
constexpr std::uint32_t multiprocessors = 8;
constexpr double most_seconds_a_launch = 240;

std::string environment(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

std::string read_ptx() {
  const std::string path = environment("TMAJIT_PTX", "");
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Failure(cudaErrorInvalidKernelImage, "TMAJIT_PTX names no file that can be read: \"" + path + "\"");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void write_report(const tmajit::Report& report) {
  std::string found = report.found;
  std::ranges::replace_if(
      found, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  std::ofstream(environment("TMAJIT_REPORTS", "/dev/stderr"), std::ios::app)
      << report.rule << '\t' << report.kernel << '\t' << report.ptx_line << '\t' << found << '\n';
}

tmajit::SimOptions options() {
  using Mode = tmajit::SimOptions::Mode;
  tmajit::SimOptions options;
  const std::string mode = environment("TMAJIT_SIM_MODE", "late");
  if (mode != "late" && mode != "early" && mode != "random")
    throw Failure(cudaErrorInvalidValue, "TMAJIT_SIM_MODE is late, early or random, not \"" + mode + "\"");
  options.mode = mode == "early" ? Mode::early : mode == "random" ? Mode::random : Mode::late;
  options.seed = std::stoull(environment("TMAJIT_SIM_SEED", "1"));
  options.sm_count = multiprocessors;
  options.seconds_limit = most_seconds_a_launch;
  options.sink = write_report;
  options.print = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
  return options;
}

struct Kernels {
  std::map<const void*, std::string> names;
  std::map<const void*, std::unique_ptr<tmajit::LoadedKernel>> loaded;
};

Kernels& kernels() {
  static auto& all = *new Kernels;
  return all;
}

cudaError_t& error_of_thread() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

}  // namespace

tmajit::SimDevice& device() {
  static auto& one = *new std::shared_ptr<tmajit::SimDevice>(tmajit::make_sim_device(options()));
  return *one;
}

tmajit::LoadedKernel& kernel_of(const void* stub) {
  static const auto& ptx = *new std::string(read_ptx());
  auto& loaded = kernels().loaded[stub];
  if (!loaded) {
    const auto name = kernels().names.find(stub);
    if (name == kernels().names.end())
      throw Failure(cudaErrorInvalidDeviceFunction, "nobody registered such a kernel");
    tmajit::Artifact artifact;
    artifact.entry = name->second;
    artifact.ptx = ptx;
    loaded = device().kernels().load(artifact);
  }
  return *loaded;
}

void register_kernel(const void* stub, const std::string& name) {
  kernels().names[stub] = name;
}

cudaError_t remember(cudaError_t code) noexcept {
  return error_of_thread() = code;
}

cudaError_t last_error(bool forget) noexcept {
  const cudaError_t error = error_of_thread();
  if (forget) error_of_thread() = cudaSuccess;
  return error;
}

void complain(const char* function, const char* message) noexcept {
  std::fprintf(stderr, "%s: %s\n", function, message);
}

}  // namespace stand_in

extern "C" {

cudaError_t cudaGetLastError() {
  return stand_in::last_error(true);
}
cudaError_t cudaPeekAtLastError() {
  return stand_in::last_error(false);
}
const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaSuccess ? "cudaSuccess" : "an error of the stand-in";
}
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error"
                              : "the stand-in for CUDA's runtime has said on stderr what went wrong";
}

cudaError_t cudaGetDevice(int* number) {
  *number = 0;
  return cudaSuccess;
}
// Newer than any: programs clear bits of the tensor maps that older drivers make, and those of this device
// are its own.
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 99000;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) {
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  return stand_in::guarded("cudaGetDeviceProperties", [&] {
    const auto& info = stand_in::device().info();
    *properties = {};
    std::snprintf(properties->name, sizeof properties->name, "%s", info.name.c_str());
    properties->major = info.compute_major;
    properties->minor = info.compute_minor;
    properties->multiProcessorCount = static_cast<int>(info.sm_count);
    properties->totalGlobalMem = info.memory_bytes;
    properties->warpSize = 32;
    properties->maxThreadsPerBlock = 1024;
    properties->sharedMemPerBlockOptin = info.max_shared_bytes;
    properties->l2CacheSize = static_cast<int>(info.l2_bytes);
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  return stand_in::guarded("cudaDeviceGetAttribute", [&] {
    const auto& info = stand_in::device().info();
    switch (attribute) {
      case cudaDevAttrMultiProcessorCount: *value = static_cast<int>(info.sm_count); break;
      case cudaDevAttrComputeCapabilityMajor: *value = info.compute_major; break;
      case cudaDevAttrComputeCapabilityMinor: *value = info.compute_minor; break;
      case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = static_cast<int>(info.max_shared_bytes); break;
      case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        *value = static_cast<int>(info.max_shared_bytes) + 1024;
        break;
      case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 2048; break;
      case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
      case cudaDevAttrWarpSize: *value = 32; break;
      default: throw stand_in::Failure(cudaErrorInvalidValue, "attribute " + std::to_string(attribute));
    }
  });
}

}  // extern "C"
