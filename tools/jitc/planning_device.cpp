#include "planning_device.hpp"

#include <tmajit/error.hpp>

#include <algorithm>

namespace jitc {
namespace {

using tmajit::DevicePtr;
using tmajit::Stream;

[[noreturn]] void refuse() {
  throw tmajit::Error(tmajit::ErrorCode::unavailable, "this device is for plans only; it has no memory");
}

/// Limits of an SM of compute capability 9.0: CUDA C++ Programming Guide, "Technical Specifications per
/// Compute Capability".
constexpr std::uint32_t warps_per_sm = 64;
constexpr std::uint32_t most_ctas = 32;
constexpr std::uint32_t registers_per_sm = 65536;
constexpr std::uint32_t register_unit = 256;  // registers that a warp gets at a time
constexpr std::uint32_t shared_per_sm = 228 * 1024;
constexpr std::uint32_t shared_of_system = 1024;  // that each CTA takes besides its own

class PlannedKernel final : public tmajit::LoadedKernel {
 public:
  explicit PlannedKernel(const tmajit::Resources& resources) : resources_(resources) {}

  void launch(const tmajit::LaunchShape& /*shape*/, std::span<void* const> /*parameters*/,
              Stream /*stream*/) const override {
    refuse();
  }
  void allow_shared_bytes(std::uint32_t /*bytes*/) override {}

  [[nodiscard]] std::uint32_t ctas_per_sm(std::uint32_t threads, std::uint32_t shared_bytes) const override {
    const std::uint32_t warps = std::max((threads + 31) / 32, 1U);
    const std::uint32_t registers =
        (std::max(resources_.registers, 1U) * 32 + register_unit - 1) / register_unit * register_unit;
    const std::uint32_t shared = shared_bytes + resources_.static_shared_bytes + shared_of_system;
    return std::min(
        {most_ctas, warps_per_sm / warps, registers_per_sm / (registers * warps), shared_per_sm / shared});
  }

 private:
  tmajit::Resources resources_;
};

class PlanningDevice final : public tmajit::Device {
 public:
  [[nodiscard]] const tmajit::DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] DevicePtr allocate(std::uint64_t /*bytes*/) override { refuse(); }
  void free(DevicePtr /*pointer*/) noexcept override {}
  void copy_in(DevicePtr /*to*/, std::span<const std::byte> /*from*/, Stream /*stream*/) override {
    refuse();
  }
  void copy_out(std::span<std::byte> /*to*/, DevicePtr /*from*/, Stream /*stream*/) override { refuse(); }
  void copy(DevicePtr /*to*/, DevicePtr /*from*/, std::uint64_t /*bytes*/, Stream /*stream*/) override {
    refuse();
  }
  void fill(DevicePtr /*to*/, std::byte /*value*/, std::uint64_t /*bytes*/, Stream /*stream*/) override {
    refuse();
  }
  void synchronize(Stream /*stream*/) override {}
  [[nodiscard]] Stream create_stream() override { return nullptr; }
  void destroy_stream(Stream /*stream*/) noexcept override {}
  [[nodiscard]] std::vector<float> time(Stream /*stream*/, std::uint32_t /*repeats*/,
                                        const std::function<void()>& /*work*/) override {
    refuse();
  }
  /// Nobody reads it: no kernel runs here.
  [[nodiscard]] tmajit::EncodedTensorMap encode(const tmajit::TensorMapSpec& /*spec*/,
                                                DevicePtr /*address*/) override {
    return {};
  }
  [[nodiscard]] std::unique_ptr<tmajit::LoadedKernel> load(const tmajit::Artifact& artifact) override {
    return std::make_unique<PlannedKernel>(artifact.resources);
  }

 private:
  tmajit::DeviceInfo info_{.name = "NVIDIA H200",
                           .compute_major = 9,
                           .sm_count = 132,
                           .max_shared_bytes = 227 * 1024,
                           .memory_bytes = std::uint64_t{139} << 30U,
                           .l2_bytes = std::uint64_t{50} << 20U};
};

}  // namespace

std::shared_ptr<tmajit::Device> make_planning_device() {
  return std::make_shared<PlanningDevice>();
}

}  // namespace jitc
