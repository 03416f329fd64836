#include "conformance/bench.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <span>
#include <utility>

#include <spdlog/fmt/fmt.h>

namespace conformance {

using namespace tmajit;

namespace {

/// Limit on the shared memory that launches of these kernels request.
constexpr std::uint32_t max_shared_bytes = 200 << 10;
/// Limit on the trials that a case's result describes, and on the elements described for each memory.
constexpr std::size_t max_differences = 8;

std::uint64_t seed_of(const Case& test_case, std::uint64_t seed) {
  for (const char letter : test_case.name) seed = seed * 131 + static_cast<unsigned char>(letter);
  return seed;
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text = "0x";
  for (std::size_t i = bytes.size(); i-- > 0;)
    text += fmt::format("{:02x}", std::to_integer<unsigned>(bytes[i]));
  return text;
}

/// "3 of 64 elements of the tensor differ; at byte 16: 0x00 instead of 0x01, before the launch 0x02; …"
std::string difference(const Memory& memory, std::span<const std::byte> found) {
  const std::size_t size = size_of(memory.type);
  std::size_t wrong = 0;
  std::string differences;
  for (std::size_t at = 0; at < found.size(); at += size) {
    const auto element = [&](std::span<const std::byte> bytes) {
      return bytes.subspan(at, std::min(size, bytes.size() - at));
    };
    if (std::ranges::equal(element(found), element(memory.after))) continue;
    if (++wrong > max_differences) continue;
    differences += fmt::format("; at byte {}: {} instead of {}, before the launch {}", at,
                               hex(element(found)), hex(element(memory.after)), hex(element(memory.before)));
  }
  if (wrong == 0) return {};
  return fmt::format("{} of {} elements of the {} differ{}", wrong, found.size() / size, memory.name,
                     differences);
}

std::string name_of(const OwnKernel& own) {
  std::string name = own.entry;
  for (const KernelConstant& constant : own.constants)
    name += fmt::format(" {}={}", constant.name, constant.literal());
  return name + '\n' + own.text;
}

}  // namespace

Bench::Bench(std::shared_ptr<Device> device, std::shared_ptr<SimDevice> simulated,
             std::optional<std::filesystem::path> cache_directory)
    : runtime_({.device = std::move(device),
                .cache_directory = std::move(cache_directory),
                .compile = simulated == nullptr ? CompileOptions{} : CompileOptions{.arch = "compute_90a"}}),
      simulated_(std::move(simulated)) {}

const Kernel& Bench::kernel(const OwnKernel& own) {
  const std::string name = name_of(own);
  const auto found = kernels_.find(name);
  if (found != kernels_.end()) return found->second;
  return kernels_.emplace(name, runtime_.kernel(source(own), max_shared_bytes)).first->second;
}

void Bench::clear_expected_reports(const Case& test_case) {
  if (simulated_ == nullptr) return;
  const auto reports = simulated_->reports();
  const auto expected = [&](const Report& report) {
    return std::ranges::count(test_case.reports, report.rule) != 0;
  };
  if (std::ranges::all_of(reports, expected)) simulated_->clear_reports();
}

std::string Bench::run(const Trial& trial, const Case& test_case) {
  const auto& device = runtime_.device();
  std::vector<Buffer> buffers;
  std::vector<Buffer> placeholders;  // memory to which launches are bound before they are moved
  OwnLaunch launch{.tensors = {}, .arguments = trial.arguments, .shape = trial.shape};
  std::vector<DevicePtr> addresses;
  for (const Memory& memory : trial.memories) {
    const Buffer& buffer = buffers.emplace_back(device, memory.before.size());
    device->memory().copy_in(buffer.address(), memory.before, nullptr);
    addresses.push_back(buffer.address());
    const auto bytes = static_cast<std::int64_t>(memory.before.size());
    launch.tensors.push_back(Tensor::contiguous(ElementType::u8, {bytes}, buffer.address()));
    if (!trial.moved) continue;
    launch.tensors.back().address = placeholders.emplace_back(device, memory.before.size()).address();
    device->memory().fill(placeholders.back().address(), std::byte{0x77}, memory.before.size(), nullptr);
  }
  std::vector<PreparedLaunch> prepared;
  const auto prepare = [&](const std::string& entry, const LaunchShape& shape) {
    OwnKernel own = trial.kernel;
    own.entry = entry;
    launch.shape = shape;
    prepared.push_back(kernel(own).prepare(launch));
    if (trial.moved) prepared.back().rebind(addresses);
  };
  for (const EarlierLaunch& earlier : trial.earlier_launches) prepare(earlier.entry, earlier.shape);
  prepare(trial.kernel.entry, trial.shape);
  for (const PreparedLaunch& prepared_launch : prepared) prepared_launch();
  clear_expected_reports(test_case);
  std::string text;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    std::vector<std::byte> found(buffers[i].bytes());
    device->streams().synchronize(nullptr);
    device->memory().copy_out(found, buffers[i].address(), nullptr);
    device->streams().synchronize(nullptr);
    if (!trial.memories[i].compared) continue;
    const std::string differs = difference(trial.memories[i], found);
    if (!differs.empty()) text += (text.empty() ? "" : "\n  ") + differs;
  }
  return text;
}

Result Bench::run(const Case& test_case, std::uint64_t seed) {
  Result result;
  reference::Random random(seed_of(test_case, seed));
  const std::vector<Trial> trials = test_case.trials(random);
  for (const Trial& trial : trials) {
    std::string differs;
    try {
      differs = run(trial, test_case);
    } catch (const Error& error) {
      result.error = fmt::format("{}: {}", trial.what, error.what());
      result.device_ended = error.code() == ErrorCode::device_failed && simulated_ == nullptr;
      if (simulated_ != nullptr) simulated_->clear_reports();
      return result;
    }
    ++result.trials;
    if (differs.empty()) continue;
    if (++result.wrong <= max_differences)
      result.differences.push_back(fmt::format("{}\n  {}", trial.what, differs));
  }
  return result;
}

}  // namespace conformance
