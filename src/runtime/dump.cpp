#include "runtime/dump.hpp"

#include "files/files.hpp"
#include "runtime/builder.hpp"
#include "spec/log.hpp"

#include <tmajit/machine/sass.hpp>

#include <cerrno>
#include <stdexcept>

#include <fcntl.h>
#include <spawn.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>
#include <sys/wait.h>
#include <unistd.h>

TMAJIT_BEGIN
namespace {

using std::filesystem::path;

/// Replaces a file of a dump; an empty one is left out.
void write_file(const path& folder, const char* name, std::string_view bytes) {
  if (bytes.empty()) return;
  const std::error_code error = replace_file(folder, folder / name, bytes);
  if (error) throw std::runtime_error(fmt::format("{}: {}", (folder / name).string(), error.message()));
}

std::string plan_text(const BuiltKernel& kernel, const KernelRequest& request) {
  const auto& [operation, types, shape] = kernel.artifact.made_for;
  const auto& [generate, key, fetch, compile, store, load] = kernel.times;
  std::string text = fmt::format(
      "key        {}\nkernel     {}\nlevel      {}\ntimes      generate {:.3f} ms, key {:.3f} ms, fetch "
      "{:.3f} "
      "ms, compile {:.3f} ms, store {:.3f} ms, load {:.3f} ms\n",
      kernel.key.hex(), kernel.artifact.entry, name(kernel.level), generate, key, fetch, compile, store,
      load);
  if (request.plan == nullptr) return text + "plan       none: a kernel of the program's own\n";
  const KernelPlan& plan = *request.plan;
  const LaunchShape& launch = plan.launch_shape();
  text += fmt::format(
      "operation  {}\ntypes      {}\nshape      {}\nfamily     {}\nchoice     {}\nreason     {}\n"
      "grid       {}\nblock      {}\ncluster    {}\nshared     {} bytes\npredicted  {:.1f} us\n",
      operation, types, shape, plan.family().name, plan.choice().text(), plan.why(),
      fmt::join(launch.grid, "x"), fmt::join(launch.block, "x"), fmt::join(launch.cluster, "x"),
      launch.shared_bytes, plan.predicted_us());
  if (!plan.expression().empty()) text += fmt::format("expression {}\n", plan.expression());
  return text;
}

/// Lets nvdisasm write the SASS of `cubin` to `sass`. The program's output is a file, so that nothing waits
/// for a reader.
void disassemble_file(const path& cubin, const path& sass) {
  const auto program = find_nvdisasm();
  if (!program) return;
  std::string words[] = {program->string(), "-c", cubin.string()};
  char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  ::posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, sass.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0666);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::pid_t child = 0;
  const int error = ::posix_spawn(&child, program->c_str(), &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw std::runtime_error(fmt::format("{} does not start", program->string()));
  int status = 0;
  // A program that ignores SIGCHLD has no status of its children.
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0)
    throw std::runtime_error(fmt::format("{} failed for {}", program->string(), cubin.string()));
}

}  // namespace

void dump_kernel(const path& directory, const BuiltKernel& kernel, const KernelRequest& request) noexcept
    try {
  const path folder = directory / kernel.key.hex();
  std::filesystem::create_directories(folder);
  const Artifact& artifact = kernel.artifact;
  write_file(folder, "plan.txt", plan_text(kernel, request));
  write_file(folder, "kernel.cu", artifact.source);
  write_file(folder, "kernel.ptx", artifact.ptx);
  write_file(folder, "kernel.log", artifact.log);
  if (artifact.cubin.empty()) return;
  write_file(folder, "kernel.cubin",
             {reinterpret_cast<const char*>(artifact.cubin.data()), artifact.cubin.size()});
  disassemble_file(folder / "kernel.cubin", folder / "kernel.sass");
} catch (const std::exception& error) {
  log(LogLevel::warn, "kernel {} is not kept in {}: {}", kernel.key.hex(), directory.string(), error.what());
}

TMAJIT_END
