#include "gpu/compare_devices.hpp"

#include "gpu/random_kernels.hpp"
#include "ptx_alone.hpp"
#include "temporary_folder.hpp"

#include <tmajit/error.hpp>
#include <tmajit/runtime.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

#include <spdlog/fmt/fmt.h>

using namespace tmajit;
using reference::between;
using reference::one_in;
using reference::one_of;
using reference::Random;

namespace gpu {
namespace {

constexpr std::uint64_t max_mismatches = 20;

/// Expressions that round, contract, divide and branch, for any element type. None uses an approximate
/// instruction, for which the ISA bounds only the error.
constexpr std::array expressions{"x * x + x", "x / 3",           "x * 3 - 7",      "x < 0 ? -x : x",
                                 "x * 0.1f",  "(float)x * 0.5f", "(int)x / 7 + x", "x == x ? x : 1"};

struct DeviceTensor {
  Buffer buffer;
  DevicePtr address;
  DeviceTensor(const std::shared_ptr<Device>& device, std::span<const std::byte> bytes, std::uint64_t offset)
      : buffer(device, bytes.size() + offset), address(buffer.address() + offset) {
    device->memory().copy_in(address, bytes, nullptr);
  }
};

reference::Tensor run(const std::shared_ptr<Device>& device, const std::filesystem::path& cache,
                      const CompileOptions& compile, const ComparedCase& compared) {
  // Each run has a runtime of its own, because a runtime keeps the kernels that it has loaded.
  Runtime runtime({.device = device, .cache_directory = cache, .compile = compile});
  std::vector<DeviceTensor> tensors;
  TensorAddresses addresses;
  for (const reference::Tensor& input : compared.inputs) {
    tensors.emplace_back(device, input.bytes, compared.offsets.inputs);
    addresses.inputs.push_back(tensors.back().address);
  }
  reference::Tensor output(compared.kernel.output, poison);
  const DeviceTensor target(device, output.bytes, compared.offsets.output);
  addresses.output = target.address;
  TileRequest request = compared.kernel.request(addresses);
  request.chip = runtime.chip();
  const KernelPlan plan = plan_tiles(request);
  runtime.kernel(plan).launch(plan);
  device->streams().synchronize(nullptr);
  device->memory().copy_out(output.bytes, target.address, nullptr);
  device->streams().synchronize(nullptr);
  return output;
}

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (std::size_t i = bytes.size(); i-- > 0;)
    text += fmt::format("{:02x}", std::to_integer<unsigned>(bytes[i]));
  return text;
}

template <class Float>
bool is_nan(const reference::Tensor& tensor, std::size_t at) {
  Float value = 0;
  const std::size_t element = at / sizeof value * sizeof value;
  if (element + sizeof value > tensor.bytes.size()) return false;
  std::memcpy(&value, &tensor.bytes[element], sizeof value);
  return std::isnan(value);
}

/// Whether the byte at `at` belongs to a NaN.
bool in_nan(const reference::Tensor& tensor, std::size_t at) {
  switch (tensor.view.type) {
    case ElementType::f64: return is_nan<double>(tensor, at);
    case ElementType::f32:
    case ElementType::f32_ftz: return is_nan<float>(tensor, at);
    default: return false;
  }
}

/// Describes how the results differ. Empty if they do not. If an input `has_f64` elements, the bytes of NaNs
/// may differ, because the hardware chooses which of two NaNs an f64 sum returns.
std::string difference(const reference::Tensor& real, const reference::Tensor& simulated, bool has_f64) {
  std::uint64_t wrong = 0;
  std::size_t first = 0;
  for (std::size_t i = real.bytes.size(); i-- > 0;) {
    if (real.bytes[i] == simulated.bytes[i]) continue;
    if (has_f64 && in_nan(real, i) && in_nan(simulated, i)) continue;
    ++wrong;
    first = i;
  }
  if (wrong == 0) return {};
  std::vector<std::uint64_t> index;
  const bool values_differ = first_difference(real, simulated, index);
  const std::size_t size = size_of(real.view.type);
  const std::size_t element = first / size * size;
  const auto at = [&](const reference::Tensor& tensor) {
    return hex(std::span(tensor.bytes).subspan(element, std::min(size, tensor.bytes.size() - element)));
  };
  return fmt::format(
      "{} of {} bytes differ{}; the first in the element at byte {}: 0x{} on the device, 0x{} simulated",
      wrong, real.bytes.size(),
      values_differ ? fmt::format(", the first value at [{}]", fmt::join(index, ", "))
                    : std::string(", in NaNs or between rows only"),
      element, at(real), at(simulated));
}

/// The state that the host threads share.
struct Shared {
  const Comparison& comparison;
  const std::function<void(const std::string&)>& mismatch;
  std::mutex device_mutex{};
  std::mutex report_mutex{};
  std::atomic<std::uint64_t> next = 0;
  std::atomic<std::uint64_t> done = 0;
  std::atomic<std::uint64_t> mismatches = 0;
  std::atomic<bool> stop = false;

  void report(const ComparedCase& compared, const std::string& what) {
    const std::lock_guard lock(report_mutex);
    if (++mismatches >= max_mismatches) stop = true;
    mismatch(fmt::format("{}\n{}", what, describe(compared)));
  }
};

void compare_one(Shared& shared, const ComparedCase& compared) {
  std::optional<reference::Tensor> real;
  std::optional<reference::Tensor> simulated;
  SimOptions options = shared.comparison.options;
  constexpr std::array modes{SimOptions::Mode::late, SimOptions::Mode::random, SimOptions::Mode::early};
  options.mode = modes.at(compared.number % modes.size());
  options.seed = shared.comparison.seed + compared.number;
  options.threads = 1;
  // The devices share a cache, so that each kernel is compiled once.
  const TemporaryFolder own;
  const std::filesystem::path cache = tests::shared_kernels().value_or(own.path());
  const CompileOptions& compile = shared.comparison.compile;
  try {
    simulated = run(make_sim_device(options), cache, compile, compared);
  } catch (const std::exception& error) {
    shared.report(compared, fmt::format("simulated: {}", error.what()));
    return;  // a kernel with a reported mistake might hang a GPU
  }
  try {
    const std::lock_guard lock(shared.device_mutex);
    if (shared.stop) return;
    real = run(shared.comparison.device, cache, compile, compared);
  } catch (const std::exception& error) {
    shared.stop = true;
    shared.report(compared, fmt::format("on the device: {}", error.what()));
    return;
  }
  const bool has_f64 = std::ranges::any_of(
      compared.inputs, [](const reference::Tensor& input) { return input.view.type == ElementType::f64; });
  if (const auto what = difference(*real, *simulated, has_f64); !what.empty()) shared.report(compared, what);
  ++shared.done;
}

void compare_cases(Shared& shared) {
  const std::vector<FamilyInfo> all_families = tile_families();
  const std::uint64_t all = shared.comparison.cases_per_family * all_families.size();
  while (!shared.stop) {
    const std::uint64_t n = shared.next++;
    if (n >= all) return;
    compare_one(shared, compared_case(all_families.at(n % all_families.size()), shared.comparison.seed,
                                      n / all_families.size()));
  }
}

}  // namespace

ComparedCase compared_case(const FamilyInfo& family, std::uint64_t seed, std::uint64_t number) {
  const std::uint64_t own = seed_of(family, seed);
  std::seed_seq sequence{own, own >> 32, number};
  Random random(sequence);
  ComparedCase compared{.number = number, .kernel = random_kernel(random, family), .inputs = {}};
  if (family.computes && compared.kernel.inputs.size() == 1 && one_in(random, 2)) {
    compared.kernel.expression = one_of(random, expressions);
  }
  for (const TensorView& view : compared.kernel.inputs)
    compared.inputs.push_back(random_tensor(random, view));
  compared.offsets = random_offsets(random, compared.kernel);
  return compared;
}

std::string describe(const ComparedCase& compared) {
  return fmt::format("case {} of {}, offsets {} and {}: {}", compared.number, compared.kernel.family.name,
                     compared.offsets.inputs, compared.offsets.output, describe(compared.kernel));
}

std::uint64_t compare_with_simulation(const Comparison& comparison,
                                      const std::function<void(const std::string&)>& mismatch) {
  Shared shared{.comparison = comparison, .mismatch = mismatch};
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t i = 1; i < comparison.threads; ++i)
      threads.emplace_back([&] { compare_cases(shared); });
    compare_cases(shared);
  }
  return shared.done;
}

}  // namespace gpu
