#include "launch/files.hpp"
#include "machine/listing.hpp"
#include "machine/process.hpp"
#include "spec/refuse.hpp"

#include <tmajit/machine/sass.hpp>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <spdlog/fmt/fmt.h>
#include <sys/mman.h>
#include <unistd.h>

TMAJIT_BEGIN
namespace {

std::string environment(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

std::string nvdisasm_remedy() {
  if (const auto named = environment("TMAJIT_NVDISASM"); !named.empty()) {
    return fmt::format("$TMAJIT_NVDISASM names {}, which is no program: correct or unset it", named);
  }
  return "run tools/setup.sh, which fetches it, install the CUDA toolkit or the Python package "
         "nvidia-cuda-nvdisasm, or name it with $TMAJIT_NVDISASM";
}

std::string list_sass(std::span<const std::byte> cubin, std::vector<std::string> options) {
  const auto program = find_nvdisasm();
  if (!program) {
    fail(ErrorCode::unavailable, "nvdisasm, which turns a cubin into SASS, was not found: {}",
         nvdisasm_remedy());
  }
  // nvdisasm needs a file in which it can seek. A file in memory, which the child inherits, needs no
  // clean-up.
  const Descriptor file(::memfd_create("tmajit.cubin", 0));
  if (file.get() < 0) {
    fail(ErrorCode::io, "cannot make a temporary file for nvdisasm: {}",
         std::generic_category().message(errno));
  }
  write_fully(file.get(), cubin, "a temporary file for nvdisasm");
  options.push_back(fmt::format("/proc/self/fd/{}", file.get()));
  auto result = run_process(*program, options);
  if (result.status != 0) {
    fail(ErrorCode::io, "{} failed with status {}: {}", program->string(), result.status,
         result.err.empty() ? result.out : result.err);
  }
  return std::move(result.out);
}

std::string disassemble(std::span<const std::byte> cubin) {
  return list_sass(cubin, {"-c"});
}

TMAJIT_END
