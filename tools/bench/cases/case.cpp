#include "case.hpp"

#include "check.hpp"
#include "sectors.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>
#include <variant>

#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

constexpr std::uint64_t alignment = 256;

std::uint64_t round_up(std::uint64_t value, std::uint64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

nlohmann::ordered_json to_json(const std::vector<Array>& arrays) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  const BufferLayout layout = buffer_layout(arrays);
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    json.push_back(
        {{"type", tmajit::name(arrays[i].type)}, {"shape", arrays[i].shape}, {"offset", layout.offsets[i]}});
  }
  return json;
}

nlohmann::ordered_json to_json(const tmajit::Dims& numbers) {
  return std::vector<std::int64_t>(numbers.begin(), numbers.end());
}

nlohmann::ordered_json to_json(const std::vector<tmajit::Slice>& slices) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const tmajit::Slice& slice : slices) {
    json.push_back({nullptr, nullptr, slice.step});
    if (slice.start) json.back()[0] = *slice.start;
    if (slice.stop) json.back()[1] = *slice.stop;
  }
  return json;
}

nlohmann::ordered_json to_json(const tmajit::PadWidths& widths) {
  return {{"before", to_json(widths.before)}, {"after", to_json(widths.after)}};
}

template <class Plain>
requires(std::is_arithmetic_v<Plain> || std::is_same_v<Plain, std::string>) nlohmann::ordered_json
    to_json(const Plain& value) {
  return value;
}

nlohmann::ordered_json to_json(const tmajit::Arguments& arguments) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [name, value] : arguments.all()) {
    json[name] = std::visit([](const auto& given) { return to_json(given); }, value);
  }
  return json;
}

std::uint64_t total_bytes(const std::vector<Array>& arrays) {
  std::uint64_t bytes = 0;
  for (const Array& array : arrays) bytes += array.bytes();
  return bytes;
}

}  // namespace

Traffic traffic(const Case& bench_case) {
  Traffic result;
  result.written = total_bytes(bench_case.destinations);
  const bool is_slice = bench_case.operation == "slice";
  result.read = is_slice ? result.written : total_bytes(bench_case.sources);
  result.sector_bytes = is_slice ? sector_bytes_of(bench_case) + result.written : result.bytes();
  return result;
}

BufferLayout buffer_layout(const std::vector<Array>& arrays) {
  BufferLayout result;
  for (const Array& array : arrays) {
    result.offsets.push_back(result.bytes);
    result.bytes = round_up(result.bytes + array.bytes(), alignment);
  }
  return result;
}

std::uint64_t buffer_bytes(const Case& bench_case, const std::vector<Array>& arrays) {
  return round_up(std::max(buffer_layout(arrays).bytes, traffic(bench_case).sector_bytes / 2), alignment);
}

nlohmann::ordered_json to_json(const Tile& tile) {
  nlohmann::ordered_json json{{"box", tile.box},
                              {"stages", tile.stages},
                              {"output_stages", tile.output_stages},
                              {"warps", tile.warps},
                              {"ctas_per_sm", tile.ctas_per_sm}};
  if (tile.tiles_per_cta) json["tiles_per_cta"] = *tile.tiles_per_cta;
  return json;
}

nlohmann::ordered_json to_json(const Case& bench_case) {
  constexpr std::array peers{"none", "eager", "all"};  // the names of enum Peers
  const Traffic bytes = traffic(bench_case);
  nlohmann::ordered_json json{
      {"label", bench_case.label()},
      {"group", bench_case.group},
      {"name", bench_case.name},
      {"types", bench_case.types()},
      {"operation", bench_case.operation},
      {"arguments", to_json(bench_case.arguments)},
      {"sources", to_json(bench_case.sources)},
      {"destinations", to_json(bench_case.destinations)},
      {"source_bytes", buffer_bytes(bench_case, bench_case.sources)},
      {"destination_bytes", buffer_bytes(bench_case, bench_case.destinations)},
      {"bytes_read", bytes.read},
      {"bytes_written", bytes.written},
      {"bytes", bytes.bytes()},
      {"sector_bytes", bytes.sector_bytes},
      {"peers", peers.at(static_cast<std::size_t>(bench_case.peers))},
      {"quick", bench_case.quick},
      {"odd", bench_case.odd},
  };
  if (!bench_case.orders.empty()) json["orders"] = bench_case.orders;
  if (!bench_case.expression.empty()) json["expression"] = bench_case.expression;
  if (const auto allowed = tolerance(bench_case)) json["tolerance"] = *allowed;
  if (!bench_case.family.empty()) json["family"] = bench_case.family;
  if (bench_case.tile) json["tile"] = to_json(*bench_case.tile);
  if (!bench_case.image.empty()) json["image"] = bench_case.image;
  if (bench_case.min_ratio) json["min_ratio"] = *bench_case.min_ratio;
  if (bench_case.max_extra_us) json["max_extra_us"] = *bench_case.max_extra_us;
  return json;
}

}  // namespace bench
