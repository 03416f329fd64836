#include "commands.hpp"
#include "files.hpp"
#include "option_group.hpp"
#include "report.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/error.hpp>

#include <filesystem>
#include <memory>
#include <system_error>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

namespace fs = std::filesystem;

/// The headers' folder of this program's installation or build.
fs::path installed_folder() {
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  fs::path folder = (program.parent_path() / JITC_DEVICE_HEADERS).lexically_normal();
  if (!failed && fs::is_directory(folder / "tmajit", failed)) return folder;
  fail(tmajit::ErrorCode::unavailable,
       "the device headers are not in {}: the component development is not installed; jitc headers -o FOLDER "
       "writes them",
       folder.string());
}

void write_headers(const fs::path& folder) {
  for (const auto& [name, text] : tmajit::device_headers()) {
    const fs::path path = folder / name;
    std::error_code failed;
    fs::create_directories(path.parent_path(), failed);
    if (failed) {
      fail(tmajit::ErrorCode::io, "the folder {} cannot be made: {}", path.parent_path().string(),
           failed.message());
    }
    OutputFile file(path);
    file.write(text);
    file.commit();
  }
}

int headers(const std::string& out, bool json) {
  if (!out.empty()) write_headers(out);
  const fs::path folder = out.empty() ? installed_folder() : fs::path(out);
  if (!json) {
    write_stdout("{}\n", folder.string());
    return 0;
  }
  Json names = Json::array();
  for (const auto& [name, text] : tmajit::device_headers()) names.push_back(name);
  print_json({{"folder", folder.string()}, {"headers", names}});
  return 0;
}

}  // namespace

void add_headers_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand(
      "headers", "Print the folder of the device headers, for nvcc -I and editors, or write them");
  auto out = std::make_shared<std::string>();
  OptionGroup(command).add("-o,--output", *out, "FOLDER", "Write them to this folder");
  command.footer(
      "Examples:\n"
      "  nvcc -std=c++20 -arch=sm_90a -I$(jitc headers) -cubin kernel.cu\n"
      "  jitc headers -o third_party/tmajit");
  add_action(command, session, [out](bool json) { return headers(*out, json); });
}

}  // namespace jitc
