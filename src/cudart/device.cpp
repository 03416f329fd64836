#include "cudart/device.hpp"

#include <tmajit/report/findings.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <mutex>
#include <string_view>
#include <vector>

TMAJIT_BEGIN
namespace cudart {
namespace {

/// Few multiprocessors, so that a persistent kernel has several tiles per CTA even in a small problem.
constexpr std::uint32_t default_multiprocessors = 8;
constexpr std::size_t report_columns = 100;

std::uint64_t heap_bytes = SimOptions{}.heap_bytes;

/// The value of an environment variable, or `fallback` if it is empty or not set. Throws Failure if it is no
/// number.
template <class Number>
Number number_in_environment(const char* name, Number fallback) {
  const std::string text = environment(name, "");
  Number value = fallback;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || (error == std::errc() && end == text.data() + text.size())) return value;
  throw Failure(cudaErrorInvalidValue, std::string(name) + " must be a number, not \"" + text + "\"");
}

struct Artifacts {
  std::mutex mutex;
  std::deque<Artifact> all;  ///< artifacts, one for each loaded kernel
};

Artifacts& artifacts() {
  static auto& all = *new Artifacts;
  return all;
}

/// Appends the report to the file of TMAJIT_REPORTS: as a line of JSON if its name ends with ".json" or
/// ".jsonl", else as text.
void write_report(const Report& report) {
  Artifacts& kernels = artifacts();
  const std::lock_guard lock(kernels.mutex);
  std::vector<const Artifact*> all;
  for (const Artifact& each : kernels.all) all.push_back(&each);
  const std::string path = environment("TMAJIT_REPORTS", "/dev/stderr");
  std::string text;
  if (path.ends_with(".json") || path.ends_with(".jsonl")) {
    text = report_json(report, all) + '\n';
  } else {
    text = report.rule + '\n' + report_text(report, all, report_columns, false) + '\n';
  }
  std::ofstream file(path, std::ios::app | std::ios::binary);
  file << text << std::flush;
  if (!file)
    std::fprintf(stderr, "tmajit: a report cannot be written to %s:\n%s", path.c_str(), text.c_str());
}

SimOptions options() {
  SimOptions options;
  options.mode = parse<SimOptions::Mode>(environment("TMAJIT_SIM_MODE", "late"));
  options.seed = number_in_environment<std::uint64_t>("TMAJIT_SIM_SEED", 1);
  // With one host thread, runs with the same seed give the same reports in the same order.
  options.threads = number_in_environment<std::uint32_t>("TMAJIT_SIM_THREADS", 1);
  options.sm_count = number_in_environment("TMAJIT_SIM_SMS", default_multiprocessors);
  options.seconds_limit = static_cast<double>(number_in_environment<std::uint64_t>("TMAJIT_SIM_SECONDS", 0));
  options.heap_bytes = heap_bytes;
  options.project = environment("TMAJIT_PROJECT", "");
  options.sink = write_report;
  options.print = [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); };
  return options;
}

cudaError_t& error_of_thread() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

}  // namespace

std::string environment(const char* name, const char* fallback) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? fallback : value;
}

const std::shared_ptr<SimDevice>& shared_device() {
  static const auto& one = *new std::shared_ptr<SimDevice>(make_sim_device(options()));
  return one;
}

void require_device(int ordinal) {
  if (ordinal != 0)
    throw Failure(cudaErrorInvalidDevice,
                  "device " + std::to_string(ordinal) + " does not exist; the only device is 0");
}

void set_heap_bytes(std::uint64_t bytes) noexcept {
  heap_bytes = bytes;
}

void add_artifact(const std::string& kernel, const std::string& ptx) {
  Artifact artifact;
  artifact.entry = kernel;
  artifact.ptx = ptx;
  const std::lock_guard lock(artifacts().mutex);
  artifacts().all.push_back(std::move(artifact));
}

cudaError_t set_last_error(cudaError_t code) noexcept {
  return error_of_thread() = code;
}

cudaError_t last_error(bool reset) noexcept {
  const cudaError_t error = error_of_thread();
  if (reset) error_of_thread() = cudaSuccess;
  return error;
}

void print_error(const char* function, cudaError_t code, const char* message) noexcept {
  std::string_view name = function;
  if (name.ends_with("_v2"))
    name.remove_suffix(3);  // the name in the driver library; programs call the function without the suffix
  std::fprintf(stderr, "tmajit: %.*s: %s (%s)\n", static_cast<int>(name.size()), name.data(), message,
               name_of(code));
}

cudaError_t code_of(const Error& error) noexcept {
  switch (error.code()) {
    case ErrorCode::out_of_memory: return cudaErrorMemoryAllocation;
    case ErrorCode::unsupported: return cudaErrorNotSupported;
    case ErrorCode::invalid_image: return cudaErrorInvalidKernelImage;
    case ErrorCode::device_failed: return cudaErrorLaunchFailure;
    default: return cudaErrorInvalidValue;
  }
}

}  // namespace cudart
TMAJIT_END
