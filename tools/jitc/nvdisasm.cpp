#include "nvdisasm.hpp"

#include "files.hpp"
#include "process.hpp"

#include <tmajit/error.hpp>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>

#include <spdlog/fmt/fmt.h>
#include <sys/mman.h>
#include <unistd.h>

namespace jitc {
namespace {

using tmajit::Error;
using tmajit::ErrorCode;

std::string environment(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? std::string() : std::string(value);
}

bool is_program(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::vector<std::filesystem::path> nvdisasm_candidates() {
  const std::filesystem::path program = "nvdisasm";
  if (const auto own = environment("TMAJIT_NVDISASM"); !own.empty()) return {own};
  std::vector<std::filesystem::path> paths;
  if (constexpr std::string_view hint = JITC_NVDISASM_HINT; !hint.empty()) paths.emplace_back(hint);
  const std::string path = environment("PATH");
  for (std::string_view rest = path; !rest.empty();) {
    const auto colon = rest.find(':');
    if (const auto folder = rest.substr(0, colon); !folder.empty()) paths.push_back(folder / program);
    rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
  }
  if (const auto home = environment("CUDA_HOME"); !home.empty()) {
    paths.push_back(std::filesystem::path(home) / "bin" / program);
  }
  paths.push_back(std::filesystem::path("/usr/local/cuda/bin") / program);
  return paths;
}

std::optional<std::filesystem::path> find_nvdisasm() {
  for (auto& path : nvdisasm_candidates()) {
    if (is_program(path)) return path;
  }
  return std::nullopt;
}

std::string nvdisasm_remedy() {
  if (const auto own = environment("TMAJIT_NVDISASM"); !own.empty()) {
    return fmt::format("$TMAJIT_NVDISASM names {}, which is no program: correct or unset it", own);
  }
  return "run tools/setup.sh, which fetches it, install the CUDA toolkit or the Python package "
         "nvidia-cuda-nvdisasm, or name it with $TMAJIT_NVDISASM";
}

std::string disassemble(std::span<const std::byte> cubin) {
  const auto program = find_nvdisasm();
  if (!program) {
    throw Error(ErrorCode::unavailable,
                "nvdisasm, which turns a cubin into SASS, is not here: " + nvdisasm_remedy());
  }
  // nvdisasm wants a file that it can seek in; one in memory, which the child inherits, leaves nothing
  // behind.
  const Descriptor file(::memfd_create("tmajit.cubin", 0));
  if (file.get() < 0) {
    throw Error(ErrorCode::io, fmt::format("cannot make a temporary file for nvdisasm: {}",
                                           std::generic_category().message(errno)));
  }
  write_fully(file.get(), cubin, "a temporary file for nvdisasm");
  auto result = run_process(*program, {"-c", fmt::format("/proc/self/fd/{}", file.get())});
  if (result.status != 0) {
    throw Error(ErrorCode::io, fmt::format("{} failed with status {}: {}", program->string(), result.status,
                                           result.err.empty() ? result.out : result.err));
  }
  return std::move(result.out);
}

}  // namespace jitc
