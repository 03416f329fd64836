#include "nvdisasm.hpp"

#include "files.hpp"
#include "process.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <vector>

#include <llvm/Support/FileSystem.h>
#include <spdlog/fmt/fmt.h>
#include <sys/mman.h>
#include <unistd.h>

namespace jitc {
namespace {

using tmajit::ErrorCode;

std::string environment(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

std::optional<std::filesystem::path> find_nvdisasm() {
  const std::filesystem::path program = "nvdisasm";
  std::vector<std::filesystem::path> paths;
  if (const auto own = environment("TMAJIT_NVDISASM"); !own.empty()) {
    paths.emplace_back(own);
  } else {
    if (constexpr std::string_view hint = JITC_NVDISASM_HINT; !hint.empty()) paths.emplace_back(hint);
    const std::string path = environment("PATH");
    for (const auto folder : split(path, ':')) {
      if (!folder.empty()) paths.push_back(folder / program);
    }
    if (const auto home = environment("CUDA_HOME"); !home.empty()) {
      paths.push_back(std::filesystem::path(home) / "bin" / program);
    }
    paths.push_back(std::filesystem::path("/usr/local/cuda/bin") / program);
  }
  const auto found =
      std::ranges::find_if(paths, [](const auto& path) { return llvm::sys::fs::can_execute(path.string()); });
  return found == paths.end() ? std::nullopt : std::optional(*found);
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
    fail(ErrorCode::unavailable, "nvdisasm, which turns a cubin into SASS, is not here: {}",
         nvdisasm_remedy());
  }
  // nvdisasm wants a file that it can seek in; one in memory, which the child inherits, leaves nothing
  // behind.
  const Descriptor file(::memfd_create("tmajit.cubin", 0));
  if (file.get() < 0) {
    fail(ErrorCode::io, "cannot make a temporary file for nvdisasm: {}",
         std::generic_category().message(errno));
  }
  write_fully(file.get(), cubin, "a temporary file for nvdisasm");
  auto result = run_process(*program, {"-c", fmt::format("/proc/self/fd/{}", file.get())});
  if (result.status != 0) {
    fail(ErrorCode::io, "{} failed with status {}: {}", program->string(), result.status,
         result.err.empty() ? result.out : result.err);
  }
  return std::move(result.out);
}

}  // namespace jitc
