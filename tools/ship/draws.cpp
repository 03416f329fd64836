#include "draws.hpp"

#include "bench/cases/planning.hpp"
#include "operations/cases.hpp"

#include <tmajit/device.hpp>
#include <tmajit/error.hpp>
#include <tmajit/plan.hpp>
#include <tmajit/tuning.hpp>

#include <array>

#include <spdlog/fmt/fmt.h>

namespace ship {
namespace {

using tmajit::ElementType;

constexpr std::array types{ElementType::f32, ElementType::bf16, ElementType::u8};
constexpr std::array<std::string_view, 6> moves{"permute", "pad", "slice", "flip", "concat", "cast"};
constexpr std::size_t move_kinds = types.size() * moves.size();
/// Further operations, as often as they stand here, for each move of each type.
constexpr std::array<std::string_view, 6> further{"reduce", "reduce", "reduce", "scan", "scan", "broadcast"};

/// The operation of a problem. Moves of a type come in succession, so that few problems have all of them.
std::string_view operation_of(Kinds kinds, std::uint64_t number) {
  if (kinds == Kinds::reductions) return "reduce";
  const std::uint64_t k = number % (kinds == Kinds::moves ? move_kinds : move_kinds + further.size());
  return k < move_kinds ? moves.at(k / types.size()) : further.at(k - move_kinds);
}

/// Independent of the seeds of other problems.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t bits = seed * 0x9e3779b97f4a7c15ULL + number;
  bits = (bits ^ (bits >> 31U)) * 0xbf58476d1ce4e5b9ULL;
  return bits ^ (bits >> 29U);
}

tmajit::DevicePtr placed(tmajit::DevicePtr buffer, bool shifted, const std::vector<bench::Array>& arrays) {
  return shifted && !arrays.empty() ? buffer + tmajit::size_of(arrays.front().type) : buffer;
}

tmajit::Chip chip_named(const char* name) {
  tmajit::DeviceInfo info;
  info.name = name;
  info.ordinal = 0;
  return tmajit::chip_of(info);
}

}  // namespace

Draw draw(Kinds kinds, std::uint64_t seed, std::uint64_t number) {
  bench::Random placement(mixed(seed, number));
  const bool is_small = placement.one_in(4);
  const bool is_shifted = placement.one_in(4);
  bench::BenchmarkCaseDraw drawn(mixed(seed, number) + 1, is_small);
  const std::string_view operation = operation_of(kinds, number);
  drawn.type = types.at(number % types.size());
  drawn.number = placement.below(1000);  // selects the types of a cast
  const bench::Case made = reference::cases_of(operation).draw_benchmark_case(drawn);
  const bool has_type =
      kinds != Kinds::reductions && operation != "cast" && operation != "reduce" && operation != "scan";
  return {
      .group = has_type ? fmt::format("{} {}", operation, tmajit::name(drawn.type)) : std::string(operation),
      .operation = bench::operation_of(made, placed(bench::some_destination, is_shifted, made.destinations),
                                       placed(bench::some_source, is_shifted, made.sources))};
}

std::span<const tmajit::Chip> chips() {
  static const std::array all{chip_named("NVIDIA H200"), chip_named("NVIDIA H100 80GB HBM3")};
  return all;
}

std::vector<tmajit::KernelPlan> planned(const tmajit::Operation& operation, const tmajit::Chip& chip) {
  static const tmajit::TuningTable shipped = tmajit::TuningTable::shipped();
  try {
    return tmajit::plan_kernels(operation, {.chip = chip, .tuning = &shipped});
  } catch (const tmajit::Error& error) {
    if (error.code() != tmajit::ErrorCode::unsupported) throw;
    return {};
  }
}

}  // namespace ship
