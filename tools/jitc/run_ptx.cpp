#include "files.hpp"
#include "ptx_launch.hpp"
#include "run.hpp"
#include "terminal.hpp"

#include <tmajit/error.hpp>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

std::string read_text(const std::filesystem::path& path) {
  const InputFile file(path);
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

/// Runs `work`, naming the file in front of what it complains about.
template <class Work>
auto with_file(const std::string& file, const Work& work) {
  try {
    return work();
  } catch (const tmajit::SpecError&) {
    throw;  // its violations name their places
  } catch (const tmajit::Error& error) {
    throw tmajit::Error(error.code(), fmt::format("{}: {}", file, error.what()));
  }
}

}  // namespace

int run_ptx(const RunOptions& options, bool json) {
  tmajit::Artifact artifact;
  artifact.ptx = read_text(options.ptx);
  const auto text = read_text(options.launch);
  const auto description = with_file(options.launch, [&] { return parse_launch(text); });
  const auto kernels = kernels_of(artifact.ptx, options.ptx);
  artifact.entry = with_file(options.launch, [&] { return match_kernel(description, kernels).name; });

  const auto folder = std::filesystem::path(options.launch).parent_path();
  if (!description.source.empty()) artifact.source = read_text(folder / description.source);

  const auto choice = select_device(options.device, options.simulation, true);
  const auto& device = choice.device;
  const auto kernel = with_file(options.ptx, [&] { return device->load(artifact); });
  const tmajit::LaunchShape shape{.grid = description.grid,
                                  .block = description.block,
                                  .shared_bytes = description.shared_bytes,
                                  .cluster = description.cluster};
  with_file(options.launch, [&] { kernel->allow_shared_bytes(shape.shared_bytes); });

  auto buffers = with_file(options.launch, [&] { return LaunchBuffers(description, folder); });
  buffers.upload(device);
  auto bytes = with_file(options.launch, [&] { return buffers.parameter_bytes(description.parameters); });
  std::vector<void*> parameters;
  parameters.reserve(bytes.size());
  for (auto& parameter : bytes) parameters.push_back(parameter.data());
  buffers.open_outputs();

  if (!json) {
    say("kernel", fmt::format("{} of {}", artifact.entry, options.ptx));
    say_launch(device->info(), shape);
  }
  Json report{{"ptx", options.ptx}, {"entry", artifact.entry}, {"launch", to_json(description)}};
  report["run"] = {{"device", to_json(device->info())}, {"grid", shape.grid}, {"block", shape.block}};
  const bool right = simulate(
      *choice.simulation, {&artifact},
      [&] { with_file(options.launch, [&] { kernel->launch(shape, parameters, nullptr); }); }, report, json);
  report["outputs"] = Json::array();
  if (right) {
    for (const auto& path : buffers.download()) {
      report["outputs"].push_back(path);
      if (!json) say("output", path);
    }
  }
  if (json) print_json(report);
  return right ? 0 : 1;
}

}  // namespace jitc
