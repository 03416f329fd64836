// Compiles kernels, and runs them on the simulated device: one process does many tasks. A line of standard
// input is one of two tasks, whose words are separated by tabs:
//   SOURCE LAUNCH PTX                         compiles SOURCE, as LAUNCH describes it, to the file PTX
//   PTX LAUNCH ALLOWED-RULES LIMIT MODE SEED  runs a kernel of at most LIMIT warp instructions
// The answer is a line of standard output: the reports of a run as a JSON array, an empty array after a
// compilation, or the text of an error.
#include "ptx_alone.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/launch/buffers.hpp>
#include <tmajit/launch/kernels.hpp>
#include <tmajit/report/findings.hpp>
#include <tmajit/sim.hpp>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return std::move(text).str();
}

void compile(const std::vector<std::string>& words) {
  const tmajit::KernelFile file = tmajit::read_kernel_file(words.at(0), words.at(1));
  std::ofstream(words.at(2)) << tmajit::compile(tmajit::source(file.kernel), tests::ptx_alone).ptx;
}

/// Returns the reports as JSON.
std::string run(const std::vector<std::string>& words) {
  const std::filesystem::path ptx_file = words.at(0);
  const std::filesystem::path launch_file = words.at(1);
  tmajit::Artifact artifact;
  artifact.ptx = text_of(ptx_file);
  const auto description = tmajit::parse_launch(text_of(launch_file));
  const auto entries = tmajit::kernels_of(artifact.ptx, ptx_file.string());
  const auto device = tmajit::make_sim_device({.mode = tmajit::parse<tmajit::SimOptions::Mode>(words.at(4)),
                                               .seed = std::stoull(words.at(5)),
                                               .threads = 1,
                                               .instruction_limit = std::stoull(words.at(3)),
                                               .allowed = split(words.at(2), ',')});
  std::vector<std::unique_ptr<tmajit::LoadedKernel>> kernels;
  for (const tmajit::KernelLaunch* const launch : description.launches()) {
    artifact.entry = tmajit::match_kernel(*launch, entries).name;
    kernels.push_back(device->kernels().load(artifact));
    kernels.back()->allow_shared_bytes(launch->shared_bytes);
  }
  const tmajit::DescribedLaunch launch(description, launch_file, device);
  launch(kernels);
  std::string reports;
  for (const tmajit::Report& report : device->reports())
    reports += (reports.empty() ? "" : ",") + tmajit::finding_json(report);
  return "[" + reports + "]";
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::string answer;
    try {
      const auto words = split(line, '\t');
      if (words.size() == 3) {
        compile(words);
        answer = "[]";
      } else {
        answer = run(words);
      }
    } catch (const std::exception& error) {
      answer = error.what();
    }
    std::ranges::replace(answer, '\n', ' ');
    std::cout << answer << std::endl;
  }
}
