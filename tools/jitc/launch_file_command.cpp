#include "commands.hpp"
#include "files.hpp"
#include "launch/members.hpp"
#include "option_group.hpp"
#include "terminal.hpp"
#include "usage.hpp"

#include <tmajit/launch/kernels.hpp>

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

namespace jitc {
namespace {

struct LaunchFileOptions {
  std::string ptx;
  std::string entry;
  std::string out;
  bool schema = false;
};

int write_launch(const LaunchFileOptions& options) {
  if (options.schema != options.ptx.empty()) refuse("launch-file needs a PTX file, or --schema and no file");
  if (options.schema) {
    write_text(options.out, tmajit::launch_schema());
    return exit_code::done;
  }
  const InputFile file(options.ptx);
  const std::string text = [&] {
    const Progress progress("reading");
    return tmajit::first_launch(file.text(), tmajit::input_name(options.ptx), options.entry) + "\n";
  }();
  write_text(options.out, text);
  return exit_code::done;
}

}  // namespace

void add_launch_file_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand(
      "launch-file", "Write a first launch file for a kernel of a PTX file, for jitc run --launch");
  auto options = std::make_shared<LaunchFileOptions>();
  command.add_option("PTX", options->ptx, "The PTX file")->type_name("FILE");
  OptionGroup group(command);
  group.add(
      "--entry", options->entry, "NAME",
      "Which kernel: its name, or a part of it that no other kernel's name has; needed if there are several");
  group.add("-o,--output", options->out, "FILE", "Write to this file; default: standard output");
  group.add_flag("--schema", options->schema,
                 "Print the JSON Schema (draft 2020-12) of launch files instead, for editors and validators");
  command.footer(
      "Parameters are recognised by how the kernel uses them. The PTX does not tell the grid, shapes and "
      "numbers: each is written as a string that begins with a question mark. Fill these in.\n\n"
      "Examples:\n"
      "  jitc launch-file kernel.ptx -o launch.json\n"
      "  jitc launch-file kernels.ptx --entry 'scale<float'\n"
      "  jitc launch-file --schema -o launch.schema.json\n"
      "  jitc run --ptx kernel.ptx --launch launch.json");
  add_action(command, session, [options](bool) { return write_launch(*options); });
}

}  // namespace jitc
