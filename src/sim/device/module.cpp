#include "ptx/parser.hpp"
#include "sim/device/globals.hpp"

#include <tmajit/error.hpp>
#include <tmajit/sim_module.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

SimModule::~SimModule() = default;

namespace sim {
namespace {

ModuleHost& host_of(SimDevice& device) {
  auto* const host = dynamic_cast<ModuleHost*>(&device);
  if (host == nullptr)
    throw Error(ErrorCode::invalid_argument, "a device that make_sim_device() did not make has no modules");
  return *host;
}

std::vector<std::string> kernels_in(const std::string& ptx) {
  const ptx::ParseResult parsed = ptx::parse(ptx);
  if (!parsed) throw Error(ErrorCode::invalid_argument, "the PTX does not parse:\n" + parsed.report);
  std::vector<std::string> names;
  for (const ptx::Directive& directive : parsed.module->directives) {
    const auto* const function = std::get_if<ptx::Function>(&directive);
    if (function != nullptr && function->is_entry) names.push_back(function->name);
  }
  return names;
}

class Module final : public SimModule {
 public:
  Module(const std::shared_ptr<SimDevice>& device, std::string ptx)
      : device_(device), host_(host_of(*device)), ptx_(std::move(ptx)), kernels_(kernels_in(ptx_)) {
    if (kernels_.empty()) return;
    Program first = host_.decode_at(ptx_, kernels_.front(), 0);
    globals_ = place_globals(host_, ptx_, first);
  }

  [[nodiscard]] const std::vector<std::string>& kernels() const noexcept override { return kernels_; }

  [[nodiscard]] std::unique_ptr<LoadedKernel> load(const std::string& kernel) override {
    return host_.make_kernel(program_of(kernel), globals_);
  }

  [[nodiscard]] SimKernelFacts facts(const std::string& kernel) const override {
    const Program program = program_of(kernel);
    SimKernelFacts facts{program.max_threads, program.static_shared_bytes, program.local_bytes,
                         static_cast<std::uint32_t>(globals_->constants.size())};
    for (const Parameter& parameter : program.parameters) facts.parameter_offsets.push_back(parameter.offset);
    return facts;
  }

  [[nodiscard]] std::optional<SimVariable> variable(std::string_view name) const override {
    const ModuleVariable* const found = globals_ ? globals_->find(name) : nullptr;
    if (found == nullptr) return std::nullopt;
    return SimVariable{found->name, found->constant ? 0 : globals_->base() + found->at, found->bytes};
  }

  void write(std::string_view name, std::uint64_t offset, std::span<const std::byte> bytes) override {
    if (bytes.empty()) return;
    const std::lock_guard lock(host_.launches());
    std::memcpy(memory_of(name, offset, bytes.size()).get(), bytes.data(), bytes.size());
  }
  void read(std::string_view name, std::uint64_t offset, std::span<std::byte> bytes) const override {
    if (bytes.empty()) return;
    const std::lock_guard lock(host_.launches());
    std::memcpy(bytes.data(), memory_of(name, offset, bytes.size()).get(), bytes.size());
  }

 private:
  [[nodiscard]] Program program_of(const std::string& kernel) const {
    Program program = host_.decode_at(ptx_, kernel, globals_ ? globals_->base() : 0);
    const std::uint64_t global_bytes = globals_->memory ? globals_->memory->bytes() : 0;
    if (program.global_image.size() > global_bytes ||
        program.constant_bank.size() != globals_->constants.size()) {
      throw Error(ErrorCode::unsupported,
                  fmt::format("kernel \"{}\" declares variables of global or constant memory in a function; "
                              "in a module the simulated device has those outside functions",
                              kernel));
    }
    return program;
  }

  [[nodiscard]] std::shared_ptr<std::byte> memory_of(std::string_view name, std::uint64_t offset,
                                                     std::uint64_t bytes) const {
    const ModuleVariable* const found = globals_ ? globals_->find(name) : nullptr;
    if (found == nullptr || offset > found->bytes || bytes > found->bytes - offset) {
      throw Error(ErrorCode::invalid_argument,
                  found == nullptr ? fmt::format("the module has no variable \"{}\"", name)
                                   : fmt::format("{} bytes at byte {} of variable \"{}\", which has {}",
                                                 bytes, offset, name, found->bytes));
    }
    if (found->constant) return {globals_, globals_->constants.data() + found->at + offset};
    return host_.global_memory().at(globals_->base() + found->at + offset, bytes);
  }

  std::shared_ptr<SimDevice> device_;
  ModuleHost& host_;
  std::string ptx_;
  std::vector<std::string> kernels_;
  std::shared_ptr<Globals> globals_;  ///< null if the module has no kernels
};

}  // namespace

std::shared_ptr<Globals> place_globals(ModuleHost& host, const std::string& ptx, Program& program) {
  auto globals = std::make_shared<Globals>();
  if (!program.global_image.empty()) {
    globals->memory.emplace(host.global_memory(), program.global_image.size(), 0);
    // Code and initial values contain the addresses of variables, which are known only now.
    program = host.decode_at(ptx, program.entry, globals->base());
    std::memcpy(host.global_memory().at(globals->base(), program.global_image.size()).get(),
                program.global_image.data(), program.global_image.size());
  }
  globals->constants = program.constant_bank;
  globals->variables = program.variables;
  return globals;
}

}  // namespace sim

std::unique_ptr<SimModule> load_sim_module(const std::shared_ptr<SimDevice>& device, std::string ptx) {
  return std::make_unique<sim::Module>(device, std::move(ptx));
}

void map_host_memory(SimDevice& device, std::span<std::byte> memory) {
  map_host_memory(device, memory, reinterpret_cast<std::uintptr_t>(memory.data()));
}
void map_host_memory(SimDevice& device, std::span<std::byte> memory, DevicePtr address) {
  sim::host_of(device).global_memory().map(memory.data(), memory.size(), address);
}

TMAJIT_END
