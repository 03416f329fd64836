#include "compile/nvrtc.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>

#include <cstdlib>
#include <system_error>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// Groups of folders that may hold CUDA's headers, the likeliest group first. The last folder of a group has
/// cuda_fp16.h, the first may have libcu++: since CUDA 13 a toolkit has it in a separate folder, cccl. Python
/// wheels of CUDA 12 have one folder for each part, those of CUDA 13 a single folder.
std::vector<std::vector<fs::path>> candidates() {
  std::vector<std::vector<fs::path>> all;
  const auto toolkit = [&](const fs::path& include) { all.push_back({include / "cccl", include}); };
  try {
    const fs::path library = fs::path(compiler().path).parent_path();
    // Four levels up include lib64/../include and targets/x86_64-linux/lib/../include.
    for (fs::path at = library; at.has_relative_path() && all.size() < 4; at = at.parent_path()) {
      toolkit(at / "include");
    }
    const fs::path wheels = library.parent_path().parent_path();  // nvidia/cuda_nvrtc/lib
    all.push_back({wheels / "cuda_cccl/include", wheels / "cuda_runtime/include"});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable) throw;  // without NVRTC there may still be headers
  }
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = std::getenv(variable); root != nullptr && *root != '\0')
      toolkit(fs::path(root) / "include");
  }
  toolkit("/usr/local/cuda/include");
  return all;
}

}  // namespace

std::vector<fs::path> cuda_include_folders() {
  std::vector<std::string> searched;
  for (const std::vector<fs::path>& candidate : candidates()) {
    if (!is_file(candidate.back() / "cuda_fp16.h")) {
      searched.push_back(candidate.back().string());
      continue;
    }
    std::vector<fs::path> folders;
    for (const fs::path& folder : candidate) {
      if (fs::path real = fs::weakly_canonical(folder);
          is_file(real / "cuda/barrier") || folder == candidate.back())
        folders.push_back(std::move(real));
    }
    return folders;
  }
  throw Error(ErrorCode::unavailable,
              fmt::format("CUDA's headers (cuda_fp16.h) are in none of {}; install the CUDA toolkit, or its "
                          "Python wheels nvidia-cuda-runtime and nvidia-cuda-cccl, or set CUDA_HOME",
                          fmt::join(searched, ", ")));
}

TMAJIT_END
