#include "cudart/modules.hpp"

#include "cudart/handles.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include <unistd.h>

TMAJIT_BEGIN
namespace cudart {
namespace {

std::string read_file(const std::string& path, cudaError_t unreadable, const std::string& advice) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Failure(unreadable, "\"" + path + "\" cannot be read" + advice);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The program's PTX files.
std::vector<std::string> program_files() {
  std::istringstream names(environment("TMAJIT_PTX", ""));
  std::vector<std::string> files;
  for (std::string each; std::getline(names, each, ':');) {
    if (!each.empty()) files.push_back(each);
  }
  if (!files.empty()) return files;
  std::string path(4096, '\0');
  const ::ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  path.resize(static_cast<std::size_t>(std::max<::ssize_t>(length, 0)));
  return {path + ".ptx"};
}

/// The kernels and variables that the program registers before main(), and its modules, which are loaded on
/// first use.
struct ProgramImage {
  std::mutex mutex;
  std::map<const void*, std::string> kernels;
  std::map<const void*, std::string> variables;
  std::vector<std::unique_ptr<Module>> modules;

  const std::vector<std::unique_ptr<Module>>& loaded() {
    if (!modules.empty()) return modules;
    for (const std::string& file : program_files()) {
      const std::string advice =
          ": TMAJIT_PTX names the program's PTX files, separated by colons; by default, it is the program's "
          "path with .ptx appended";
      modules.push_back(std::make_unique<Module>(read_file(file, cudaErrorInvalidKernelImage, advice)));
    }
    return modules;
  }
};

ProgramImage& program() {
  static auto& image = *new ProgramImage;
  return image;
}

/// The kernels of all modules by their addresses, which are handles.
struct KnownKernels {
  std::mutex mutex;
  std::map<const void*, Kernel*> all;
};
KnownKernels& known_kernels() {
  static auto& all = *new KnownKernels;
  return all;
}

Handles<Module>& loaded_modules() {
  static auto& modules = *new Handles<Module>("module");
  return modules;
}

}  // namespace

LoadedKernel& Kernel::loaded() {
  const std::lock_guard lock(mutex_);
  if (!loaded_) {
    loaded_ = module_.load(name_);
    add_artifact(name_, ptx_);
  }
  return *loaded_;
}

const SimKernelFacts& Kernel::facts() {
  const std::lock_guard lock(mutex_);
  if (!facts_) facts_ = std::make_unique<SimKernelFacts>(module_.facts(name_));
  return *facts_;
}

void Kernel::allow_shared_bytes(std::uint32_t bytes) {
  loaded().allow_shared_bytes(bytes);
  allowed_ = std::max(allowed_, bytes);
}

Module::Module(std::string ptx) : ptx_(std::move(ptx)), module_(load_sim_module(shared_device(), ptx_)) {
  for (const std::string& name : module_->kernels()) {
    Kernel& kernel = *(kernels_[name] = std::make_unique<Kernel>(*module_, ptx_, name));
    const std::lock_guard lock(known_kernels().mutex);
    known_kernels().all[&kernel] = &kernel;
  }
}

Module::~Module() {
  const std::lock_guard lock(known_kernels().mutex);
  for (const auto& [name, kernel] : kernels_) known_kernels().all.erase(kernel.get());
}

Kernel* Module::kernel(std::string_view name) {
  const auto found = kernels_.find(name);
  return found == kernels_.end() ? nullptr : found->second.get();
}

Module& add_module(const void* image) {
  const auto* const text =
      static_cast<const char*>(&require_non_null(static_cast<const char*>(image), "the image"));
  // Machine code begins with a byte that no text has.
  if (const auto first = static_cast<unsigned char>(*text); first < '\t' || first > '~') {
    throw Failure(cudaErrorNoKernelImageForDevice,
                  "the image is machine code; the simulated device loads PTX, which nvcc -ptx makes");
  }
  return loaded_modules().add(std::make_unique<Module>(std::string(text)));
}

Module& add_module_file(const char* path) {
  const std::string text =
      read_file(require_non_null(path, "the path") == '\0' ? "" : path, cudaErrorFileNotFound, "");
  return add_module(text.c_str());
}

Module& module_at(const void* handle) {
  return loaded_modules().at(handle);
}

void remove_module(const void* handle) {
  loaded_modules().remove(handle);
}

Kernel& kernel_of(const void* function) {
  {
    const std::lock_guard lock(known_kernels().mutex);
    const auto found = known_kernels().all.find(function);
    if (found != known_kernels().all.end()) return *found->second;
  }
  ProgramImage& image = program();
  const std::lock_guard lock(image.mutex);
  const auto name = image.kernels.find(function);
  if (name == image.kernels.end())
    throw Failure(cudaErrorInvalidDeviceFunction, "the function is not a kernel that the program registered");
  for (const auto& module : image.loaded()) {
    if (Kernel* const kernel = module->kernel(name->second); kernel != nullptr) return *kernel;
  }
  throw Failure(cudaErrorInvalidDeviceFunction,
                "no kernel \"" + name->second +
                    "\" is in the program's PTX; TMAJIT_PTX names its files, separated by colons");
}

void register_kernel(const void* function, const std::string& name) {
  const std::lock_guard lock(program().mutex);
  program().kernels[function] = name;
}

void register_variable(const void* variable, const std::string& name) {
  const std::lock_guard lock(program().mutex);
  program().variables[variable] = name;
}

Symbol symbol_of(const void* variable) {
  ProgramImage& image = program();
  const std::lock_guard lock(image.mutex);
  const auto name = image.variables.find(variable);
  if (name == image.variables.end())
    throw Failure(cudaErrorInvalidSymbol, "the symbol is not a variable that the program registered");
  for (const auto& module : image.loaded()) {
    if (auto found = module->simulated().variable(name->second)) {
      return {module->simulated(), *std::move(found)};
    }
  }
  throw Failure(cudaErrorInvalidSymbol, "no variable \"" + name->second + "\" is in the program's PTX");
}

}  // namespace cudart
TMAJIT_END
