// In libtmajit, since dumps of kernels need it, too (src/runtime/dump.cpp).
#include <tmajit/machine/sass.hpp>

#include <cstdlib>
#include <string>

#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Program.h>

TMAJIT_BEGIN
namespace {

std::string environment(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

std::optional<std::filesystem::path> find_nvdisasm() {
  if (const auto named = environment("TMAJIT_NVDISASM"); !named.empty()) {
    return llvm::sys::fs::can_execute(named) ? std::optional<std::filesystem::path>(named) : std::nullopt;
  }
  if (llvm::sys::fs::can_execute(TMAJIT_NVDISASM_HINT)) return TMAJIT_NVDISASM_HINT;
  const auto search = [](llvm::ArrayRef<llvm::StringRef> folders) {
    const auto found = llvm::sys::findProgramByName("nvdisasm", folders);
    return found ? std::optional<std::filesystem::path>(*found) : std::nullopt;
  };
  if (auto found = search({})) return found;
  const std::string home = environment("CUDA_HOME") + "/bin";
  return search({home, "/usr/local/cuda/bin"});
}

TMAJIT_END
