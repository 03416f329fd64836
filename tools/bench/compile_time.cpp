// Measures NVRTC's time for representative kernels, as multiples of its time for an empty kernel.
#include "bench.hpp"
#include "cost.hpp"
#include "planning.hpp"
#include "raw_libraries.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>

#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

using tmajit::ElementType;

const tmajit::Source empty_kernel{"extern \"C\" __global__ void empty() {}\n", "empty", {}};

Case make_compiled_case(std::string name, std::string operation, std::vector<Array> sources,
                        tmajit::Arguments arguments = {}) {
  return make_case("compile", std::move(name), std::move(operation), std::move(sources),
                   std::move(arguments));
}

Case transpose(std::string name, ElementType type, std::uint64_t rows, std::uint64_t columns) {
  return make_compiled_case(std::move(name), "permute", {{type, {rows, columns}}},
                            {{"axes", tmajit::Dims{1, 0}}});
}

std::vector<Case> cases() {
  using enum ElementType;
  using tmajit::Dims;
  const Array matrix{f32, {4096, 4096}};
  const auto map = [&](std::string name, const char* text, std::size_t inputs) {
    return make_compiled_case(std::move(name), "map", std::vector<Array>(inputs, matrix),
                              {{"expression", text}});
  };
  constexpr auto silu = "x / (1 + expf(-x))";
  std::vector<Case> list;
  list.push_back(make_compiled_case("rows: slice, f32", "slice", {matrix},
                                    {{"slices", std::vector<tmajit::Slice>{{0, 4096, 1}, {64, 2112, 1}}}}));
  list.push_back(make_compiled_case("rows: heads, bf16", "permute", {{bf16, {8, 1024, 16, 64}}},
                                    {{"axes", Dims{0, 2, 1, 3}}}));
  list.push_back(transpose("transpose, f32", f32, 16384, 16384));
  list.push_back(transpose("transpose, bf16", bf16, 16384, 16384));
  list.push_back(transpose("transpose, u8", u8, 16384, 16384));
  list.push_back(transpose("transpose, f32, odd", f32, 8191, 8209));
  list.push_back(transpose("transpose, bf16, odd", bf16, 8191, 8209));
  list.push_back(transpose("transpose, u8, odd", u8, 8191, 8209));
  Case tiles = map("map of tiles: SiLU, f32", silu, 1);
  tiles.family = "map";
  tiles.tile = Tile{.box = {32, 32}};
  list.push_back(std::move(tiles));
  list.push_back(map("general: SiLU, f32", silu, 1));
  list.push_back(map("general: sum, f32", "x0 + x1", 2));
  list.push_back(make_compiled_case("general: pad, f32", "pad", {{f32, {1000, 1000}}},
                                    {{"widths", tmajit::PadWidths{{3, 2}, {5, 2}}}}));
  Case cast = make_compiled_case("general: cast, f32->bf16", "cast", {matrix});
  cast.destinations.front().type = bf16;
  list.push_back(std::move(cast));
  list.push_back(
      make_compiled_case("linear, u8", "permute", {{u8, {1024, 1024, 3}}}, {{"axes", Dims{2, 0, 1}}}));
  Case permutation = make_compiled_case("flat, bf16", "permute", {{bf16, {65, 8, 29, 16, 6, 37}}},
                                        {{"axes", Dims{3, 1, 2, 0, 5, 4}}});
  permutation.family = "flat";
  list.push_back(std::move(permutation));
  list.push_back({.group = "compile",
                  .name = "fill, f32",
                  .operation = "map",
                  .destinations = {matrix},
                  .arguments = {{"expression", "g[0] == g[1]"}}});
  return list;
}

/// The stages of a compile: NVRTC's names, and the names in the report.
constexpr std::array<std::pair<std::string_view, const char*>, 3> compile_stages{
    {{"CUDA C++ Frontend", "front_end"}, {"NVVM Optimizer", "nvvm"}, {"PTX Translation", "ptxas"}}};

/// Each stage's share of a compile, from the table that NVRTC writes for its option --time: lines such as
/// "empty.cu, NVVM Optimizer, 7, ms". Nothing if there is no such table.
std::optional<std::array<double, compile_stages.size()>> shares(const std::filesystem::path& table) {
  std::array<double, compile_stages.size()> spent{};
  std::ifstream file(table);
  for (std::string line; std::getline(file, line);) {
    for (std::size_t i = 0; i < compile_stages.size(); ++i) {
      const std::string mark = fmt::format(", {}, ", compile_stages.at(i).first);
      const std::size_t at = line.find(mark);
      if (at == std::string::npos) continue;
      double value = 0;
      const char* const first = line.data() + at + mark.size();
      std::from_chars(first, line.data() + line.size(), value);
      spent.at(i) += value;
    }
  }
  double sum = 0;
  for (const double value : spent) sum += value;
  if (sum <= 0) return std::nullopt;
  for (double& value : spent) value /= sum;
  return spent;
}

/// Compile times of one kernel and of the empty kernel, measured alternately.
class Race {
 public:
  Race(const RawNvrtc& nvrtc, const std::filesystem::path& folder)
      : nvrtc_(nvrtc), table_(folder / "time.csv"), option_("--time=" + table_.string()) {}

  void run(const tmajit::Source& source, unsigned rounds) {
    for (unsigned round = 0; round < rounds; ++round) {
      const double empty = compile(empty_kernel).cpu_ms;
      std::filesystem::remove(table_);
      const Cost kernel = compile(source);
      empty_.push_back(empty);
      cpu_.push_back(kernel.cpu_ms);
      wall_.push_back(kernel.wall_ms);
      multiple_.push_back(kernel.cpu_ms / empty);
      const auto stage_shares = shares(table_);
      for (std::size_t i = 0; stage_shares && i < compile_stages.size(); ++i) {
        stage_.at(i).push_back(stage_shares->at(i) * kernel.cpu_ms / empty);
      }
    }
  }

  void print(const std::string& name, const std::string& kernel, Report& report) const {
    const Samples multiple(multiple_);
    std::string row = fmt::format("{:<26}{:<18}{:>9.1f}{:>9.1f}{:>9.2f}", name, kernel,
                                  Samples(cpu_).median(), Samples(wall_).median(), multiple.median());
    nlohmann::ordered_json entry{{"case", name},
                                 {"family", kernel},
                                 {"empty_cpu_ms", to_json(Samples(empty_))},
                                 {"cpu_ms", to_json(Samples(cpu_))},
                                 {"wall_ms", to_json(Samples(wall_))},
                                 {"multiple", to_json(multiple)}};
    for (std::size_t i = 0; i < compile_stages.size(); ++i) {
      if (stage_.at(i).empty()) continue;
      const Samples part(stage_.at(i));
      row += fmt::format("{:>11.2f}", part.median());
      entry[compile_stages.at(i).second] = to_json(part);
    }
    report.line(row);
    report.json["compile"].push_back(std::move(entry));
  }

 private:
  [[nodiscard]] Cost compile(const tmajit::Source& source) const {
    return cost([&] { (void)nvrtc_.compile(source, {option_.c_str()}); });
  }

  const RawNvrtc& nvrtc_;
  std::filesystem::path table_;
  std::string option_;
  std::vector<double> empty_, cpu_, wall_, multiple_;
  std::array<std::vector<double>, compile_stages.size()> stage_;
};

}  // namespace

void measure_compile_time(const Options& options, const RawNvrtc& nvrtc, const std::filesystem::path& folder,
                          Report& report) {
  report.line(
      "\nNVRTC's CPU time as multiples of its time for an empty kernel, measured alternately; medians");
  report.line(fmt::format("{:<26}{:<18}{:>9}{:>9}{:>9}{:>11}{:>11}{:>11}", "kernel", "family", "CPU ms",
                          "wall ms", "multiple", "front end", "NVVM", "ptxas"));
  for (const Case& bench_case : cases()) {
    report.progress(fmt::format("compile {}", bench_case.name));
    try {
      const tmajit::KernelPlan plan = plan_case(bench_case).front();
      Race race(nvrtc, folder);
      race.run(tmajit::source(plan), options.rounds);
      race.print(bench_case.name, std::string(plan.family().name), report);
    } catch (const tmajit::Error& error) {
      report.failure(fmt::format("compile {}", bench_case.name), error);
    }
  }
}

}  // namespace bench
