#pragma once

/// What the CTAs of one launch share.
#include "sim/global_memory.hpp"
#include "sim/program.hpp"

#include <tmajit/sim.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

TMAJIT_BEGIN
namespace sim {

struct TensorMap {
  TensorMapSpec spec;
  std::uint64_t address = 0;
};

/// The tensor maps that a device has encoded: a handle and a checksum in 128 bytes that nobody else reads.
/// Thread-safe.
class TensorMaps {
 public:
  [[nodiscard]] EncodedTensorMap encode(const TensorMapSpec& spec, std::uint64_t address);
  /// Nothing if these bytes are none that encode() gave.
  [[nodiscard]] std::optional<TensorMap> decode(const std::byte* bytes) const;

 private:
  mutable std::mutex mutex_;
  std::vector<TensorMap> maps_;
  std::map<std::string, std::uint64_t> known_;
};

/// Collects reports of all CTAs, one of each rule and place. Thread-safe.
class Reports {
 public:
  /// At most this many differ; the rest is counted with the last.
  static constexpr std::size_t most = 100;
  void add(Report report);
  /// Counts one more of a rule and line if it is known already.
  [[nodiscard]] bool again(std::string_view rule, std::uint32_t ptx_line);
  [[nodiscard]] std::vector<Report> take();

 private:
  std::mutex mutex_;
  std::vector<Report> reports_;
};

struct LaunchOrder;

struct Launch {
  const Program& program;
  const LaunchShape& shape;
  const SimOptions& options;
  const TensorMaps& tensor_maps;
  std::vector<std::byte> parameters;
  std::vector<Region> regions;  ///< of global memory, by address
  Reports reports;
  std::atomic<std::uint64_t> thread_instructions = 0;
  std::atomic<bool> stopped = false;  ///< a fault ended the launch
  std::atomic<std::uint64_t> next_cluster = 0;
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  ///< CTAs a cluster; divides the grid
  bool explicit_cluster = false;                  ///< the launch or the kernel asked for clusters
  LaunchOrder* order = nullptr;                   ///< null: races are not looked for
  std::atomic<std::uint64_t> ctas_done = 0;
  std::mutex print_mutex{};

  /// What a thread prints goes to SimOptions::print.
  void print(const std::string& text);
};

/// Runs every cluster on `threads` host threads.
void run(Launch& launch, std::uint32_t threads);

}  // namespace sim
TMAJIT_END
