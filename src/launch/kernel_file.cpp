#include "launch/files.hpp"
#include "spec/refuse.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/launch/description.hpp>

#include <utility>

TMAJIT_BEGIN
namespace {

/// The folders of CUDA's headers. Empty if this machine has none: a text without CUDA headers still compiles.
std::vector<std::filesystem::path> cuda_folders() {
  try {
    return cuda_include_folders();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unavailable) throw;
    return {};
  }
}

}  // namespace

KernelFile read_kernel_file(const std::string& path, const std::string& launch, std::string entry,
                            std::vector<KernelConstant> constants, const std::vector<std::string>& include) {
  KernelFile file;
  OwnKernel& kernel = file.kernel;
  kernel.text = InputFile(path).text();
  kernel.file = path;
  kernel.entry = std::move(entry);
  kernel.constants = std::move(constants);
  auto& folders = kernel.include_folders;
  const auto kernel_folder = std::filesystem::path(path).parent_path();
  folders.push_back(kernel_folder.empty() ? "." : kernel_folder);
  folders.insert(folders.end(), include.begin(), include.end());
  if (!launch.empty()) {
    const InputFile text(launch);
    file.launch_folder = std::filesystem::path(launch).parent_path();
    file.launch = naming(launch, [&] { return parse_launch(text.text(), kernel.constants); });
    kernel.constants = file.launch->constants;
    if (kernel.entry.empty()) kernel.entry = file.launch->entry;
    for (const std::string& folder : file.launch->include) folders.push_back(file.launch_folder / folder);
  }
  const auto cuda = cuda_folders();
  folders.insert(folders.end(), cuda.begin(), cuda.end());
  return file;
}

TMAJIT_END
