/// Loads every kernel of arbitrary PTX on the simulated device and runs it with two CTAs of a few warps. Each
/// run must end within the limits, with or without reports, or with an Error.
#include "ptx/parser.hpp"
#include "sim/decode/decode.hpp"

#include <tmajit/error.hpp>
#include <tmajit/sim.hpp>

#include <array>
#include <string_view>
#include <variant>

using namespace tmajit;

namespace {

constexpr std::uint32_t buffer_bytes = 4096;

void run_kernel(std::string_view text, const std::string& entry, SimOptions::Mode mode) {
  // Small limits suffice, because this looks for crashes, not for results.
  const auto device = make_sim_device(
      {.mode = mode, .threads = 1, .instruction_limit = 3000, .memory_bytes = 1 << 20, .print = [](auto) {}});
  Artifact artifact;
  artifact.entry = entry;
  artifact.ptx = std::string(text);
  const auto kernel = device->kernels().load(artifact);
  const sim::Program program = sim::decode(text, entry);
  const Buffer buffer(device, buffer_bytes);
  device->memory().fill(buffer.address(), std::byte{1}, buffer_bytes, nullptr);
  // Every parameter is filled with the buffer's address, repeated.
  std::vector<std::uint64_t> words(sim::max_parameter_bytes / 8 + 1, buffer.address());
  std::vector<void*> parameters(program.parameters.size(), words.data());
  for (const std::uint32_t cluster : {1U, 2U}) {
    kernel->launch({.grid = {2, 1, 1}, .block = {48, 1, 1}, .shared_bytes = 2048, .cluster = {cluster, 1, 1}},
                   parameters, nullptr);
    for (const Report& report : device->reports()) (void)report.text();
    device->clear_reports();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const ptx::ParseResult parsed = ptx::parse(text, "fuzz.ptx");
  if (!parsed) return 0;
  for (const ptx::Directive& directive : parsed.module->directives) {
    const auto* function = std::get_if<ptx::Function>(&directive);
    if (function == nullptr || !function->is_entry) continue;
    for (const auto mode : {SimOptions::Mode::late, SimOptions::Mode::early}) {
      try {
        run_kernel(text, function->name, mode);
      } catch (const Error&) {  // an Error is allowed
      }
    }
  }
  return 0;
}
