#include "options.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>

namespace bench {
namespace {

constexpr std::uint64_t KiB = 1024;
constexpr std::uint64_t MiB = 1024 * KiB;
constexpr std::uint64_t GiB = 1024 * MiB;
/// A row of 4096 elements of 8 bytes: every size is whole rows of every type.
constexpr std::uint64_t size_unit = 32 * KiB;

const std::vector<std::string> groups{"copy", "map", "cast", "bulk", "snapshot", "jit", "launch"};

using tmajit::ElementType;

/// Those for which the bench computes the expected result with the host's own arithmetic.
constexpr std::array legal_types{ElementType::u8,  ElementType::i8,  ElementType::u16, ElementType::i16,
                                 ElementType::u32, ElementType::i32, ElementType::u64, ElementType::i64,
                                 ElementType::f32, ElementType::f64, ElementType::bf16};

std::uint64_t parse_size(const std::string& text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  const std::uint64_t scale = unit.starts_with('K')   ? KiB
                              : unit.starts_with('M') ? MiB
                              : unit.starts_with('G') ? GiB
                                                      : 1;
  const bool known = unit.empty() || unit == "K" || unit == "M" || unit == "G" || unit == "KiB" ||
                     unit == "MiB" || unit == "GiB";
  if (error != std::errc() || !known || value == 0 || value > 64 * GiB / scale ||
      value * scale % size_unit != 0) {
    throw CLI::ValidationError(
        "--sizes",
        fmt::format("'{}' is no size; legal are multiples of 32K up to 64G, such as 64K, 16M, 1G", text));
  }
  return value * scale;
}

ElementType parse_type(const std::string& text) {
  for (const ElementType type : legal_types) {
    if (tmajit::name(type) == text) return type;
  }
  std::string names;
  for (const ElementType type : legal_types) {
    names += names.empty() ? "" : ", ";
    names += tmajit::name(type);
  }
  throw CLI::ValidationError("--types", fmt::format("'{}' is not among {}", text, names));
}

std::string check_device(const std::string& text) {
  if (text == "auto" || text == "none" || text == "gpu") return {};
  const bool numbered =
      text.starts_with("gpu:") && text.size() > 4 && text.size() < 8 &&
      std::all_of(text.begin() + 4, text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return numbered ? std::string()
                  : fmt::format("unknown device '{}'; legal are auto, none, gpu, gpu:N", text);
}

constexpr const char* about =
    "Measures tmajit beside its reference in the same run: the bandwidth of every kernel family beside\n"
    "cuMemcpyDtoDAsync, compilation beside NVRTC alone, launches beside cuLaunchKernelEx alone.\n"
    "GB/s count bytes read plus bytes written; the reference copies as many. What needs a Hopper GPU is\n"
    "left out, and says so, where there is none.";

constexpr const char* examples =
    "Examples:\n"
    "  tmajit-bench --quick\n"
    "  tmajit-bench --only copy,map --types u8,f32 --sizes 1G --json bench.json\n"
    "  tmajit-bench --only jit --device none\n"
    "  tmajit-bench --sweep map --types bf16 --sizes 1G --expr '2 * x + 1'";

}  // namespace

bool Options::wants(std::string_view group) const {
  return only.empty() || std::find(only.begin(), only.end(), group) != only.end();
}

Parsed parse(int argc, char** argv) {
  Parsed result;
  Options& options = result.options;
  std::vector<std::string> sizes;
  std::vector<std::string> types;
  std::string sweep;

  CLI::App app(about, "tmajit-bench");
  app.footer(examples);
  app.add_option("--only", options.only, "Groups to measure: copy, map, cast, bulk, snapshot, jit, launch")
      ->delimiter(',')
      ->check(CLI::IsMember(groups));
  app.add_option("--sizes", sizes, "Bytes of a case's largest operand [64K,1M,16M,256M,1G,4G]")
      ->delimiter(',');
  app.add_option("--types", types, "Element types [u8,bf16,f32,f64]; casts have their own")->delimiter(',');
  app.add_option("--device", options.device, "auto, none, gpu or gpu:N [auto]")
      ->check(CLI::Validator(check_device, ""));
  app.add_option("--rounds", options.rounds, "Measurements of each side [15]")->check(CLI::Range(1, 10000));
  app.add_flag("--quick", options.quick, "Fewer sizes and rounds");
  app.add_option("--json", options.json, "Also write everything to this file")->type_name("FILE");
  app.add_option("--sweep", sweep,
                 "Time a grid of tiles, stages, warps and CTAs of copy, map, bulk or snapshot")
      ->check(CLI::IsMember({"copy", "map", "bulk", "snapshot"}));
  app.add_option("--expr", options.expression, "The sweep's expression [2 * x + 1]");
  app.add_option("--limit", options.limit, "Candidates that a sweep takes at most [500]")
      ->check(CLI::Range(1, 100000));
  app.add_option("--seed", options.seed, "Seed of the data and of a sweep's choice [1]");
  app.add_option("--probe", options.probe)->group("");
  try {
    app.parse(argc, argv);
    for (const auto& size : sizes) options.sizes.push_back(parse_size(size));
    for (const auto& type : types) options.types.push_back(parse_type(type));
    if (!options.expression.empty() && sweep != "map" && sweep != "bulk") {
      throw CLI::ValidationError("--expr", "belongs to --sweep map or --sweep bulk");
    }
  } catch (const CLI::ParseError& error) {
    result.exit_code = app.exit(error) == 0 ? 0 : 2;
    return result;
  }
  if (!sweep.empty()) options.sweep = tmajit::parse_family(sweep);
  if (options.quick && app.count("--rounds") == 0) options.rounds = 5;
  if (options.sizes.empty()) {
    if (options.sweep) {
      options.sizes = {GiB};
    } else if (options.quick) {
      options.sizes = {MiB, GiB};
    } else {
      options.sizes = {64 * KiB, MiB, 16 * MiB, 256 * MiB, GiB, 4 * GiB};
    }
  }
  if (options.types.empty()) {
    options.types = options.sweep
                        ? std::vector{ElementType::f32}
                        : std::vector{ElementType::u8, ElementType::bf16, ElementType::f32, ElementType::f64};
  }
  return result;
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= KiB && unit + 1 < units.size()) {
    value /= KiB;
    ++unit;
  }
  return fmt::format("{:.4g} {}", value, units.at(unit));
}

}  // namespace bench
