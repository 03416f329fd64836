#include "spec/refuse.hpp"

#include <tmajit/launch/kernels.hpp>

#include <algorithm>
#include <array>
#include <string_view>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// Whether a text has host code, which NVRTC does not compile.
bool has_host_code(std::string_view text) {
  constexpr std::array signs{"<<<",      "int main(",  "<cstdio>",   "<stdio.h>",     "<iostream>",
                             "<vector>", "<stdlib.h>", "<cstdlib>",  "<cuda_runtime", "\"cuda_runtime",
                             "<cuda.h>", "<string>",   "<algorithm>"};
  return std::ranges::any_of(signs, [&](std::string_view sign) { return text.find(sign) != text.npos; });
}

/// Whether the error is that NVRTC found no header for an #include <name> of the text. NVRTC has no host
/// headers.
bool lacks_system_header(std::string_view text, std::string_view error) {
  const std::size_t message_begin = error.find("open source file \"");
  if (message_begin == error.npos) return false;
  const std::size_t begin = error.find('"', message_begin) + 1;
  const std::string_view name = error.substr(begin, error.find('"', begin) - begin);
  return text.find(fmt::format("<{}>", name)) != text.npos;
}

}  // namespace

Kernel compile_kernel_file(const Runtime& runtime, const KernelFile& file) {
  const std::string& path = file.kernel.file;
  const Source source = naming(path, [&] { return tmajit::source(file.kernel); });
  try {
    return runtime.kernel(source, file.launch ? file.launch->shared_bytes : 0);
  } catch (const CompileError& error) {
    if (!has_host_code(source.text) && !lacks_system_header(source.text, error.what())) throw;
    throw CompileError(
        fmt::format("{}\n{} has host code or host headers, which NVRTC cannot compile. Make the "
                    "PTX of its kernels, and use it in place of the file:\n"
                    "  nvcc -ptx -arch=sm_90a -lineinfo -o kernel.ptx {}",
                    error.what(), path, path),
        error.log());
  }
}

TMAJIT_END
