#include "bench.hpp"
#include "case.hpp"

#include <tmajit/kernel_plan.hpp>

#include <algorithm>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace bench {
namespace {

/// A row of 4096 elements of 8 bytes: every size is whole rows of every type.
constexpr std::uint64_t size_unit = 32 * KiB;

using tmajit::ElementType;

/// All types except those whose values the copy engine changes.
std::vector<ElementType> legal_types() {
  std::vector<ElementType> types(tmajit::all_element_types.begin(), tmajit::all_element_types.end());
  std::erase_if(types, [](ElementType type) {
    return type == ElementType::f32_ftz || type == ElementType::tf32 || type == ElementType::tf32_ftz;
  });
  return types;
}

/// The families that make kernels with a tile of the caller's choice. Each is a group of cases; casts are a
/// further group.
std::vector<std::string> families_with_tiles() {
  std::vector<std::string> names;
  for (const tmajit::FamilyInfo& family : tmajit::families()) {
    if (family.does("tiles")) names.emplace_back(family.name);
  }
  return names;
}

std::string check_size(const std::string& text) {
  std::uint64_t bytes = 0;
  if (CLI::detail::lexical_cast(text, bytes) && bytes > 0 && bytes <= 64 * GiB && bytes % size_unit == 0)
    return {};
  return "legal are multiples of 32K up to 64G, such as 64K, 16M, 1G";
}

ElementType parse_type(const std::string& text) {
  std::vector<std::string_view> names;
  for (const ElementType type : legal_types()) {
    if (tmajit::name(type) == text) return type;
    names.push_back(tmajit::name(type));
  }
  throw CLI::ValidationError("--types", fmt::format("'{}' is not among {}", text, fmt::join(names, ", ")));
}

constexpr const char* about =
    "Compares tmajit with a reference in the same run: the bandwidth of every kernel family with\n"
    "cuMemcpyDtoDAsync, compilation with NVRTC alone, launches with cuLaunchKernelEx alone.\n"
    "GB/s count bytes read plus bytes written; the reference copies as many. Without a Hopper GPU the\n"
    "measurements that need one are left out, with a note.";

constexpr const char* examples =
    "Examples:\n"
    "  tmajit-bench --quick\n"
    "  tmajit-bench --only copy,map --types u8,f32 --sizes 1G --json bench.json\n"
    "  tmajit-bench --only jit --device none\n"
    "  tmajit-bench --sweep map --types bf16 --sizes 1G --expr '2 * x + 1'";

}  // namespace

bool Options::wants_bandwidth() const {
  return only.empty() || std::ranges::any_of(only, [](const std::string& group) {
           return group != "cold" && group != "dispatch" && group != "jit" && group != "kernels" &&
                  group != "launch" && group != "ready";
         });
}

bool Options::wants(std::string_view group) const {
  return only.empty() || std::find(only.begin(), only.end(), group) != only.end();
}

std::optional<int> parse(int argc, char** argv, Options& options) {
  std::vector<std::string> types;
  CLI::App app(about, "tmajit-bench");
  app.footer(examples);
  std::vector<std::string> groups = families_with_tiles();
  groups.insert(groups.end(), {"cast", "cold", "dispatch", "jit", "kernels", "launch", "ready"});
  app.add_option("--only", options.only, fmt::format("Groups to measure: {}", fmt::join(groups, ", ")))
      ->delimiter(',')
      ->check(CLI::IsMember(groups));
  app.add_option("--sizes", options.sizes, "Bytes of a case's largest operand [64K,1M,16M,256M,1G,4G]")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false) & CLI::Validator(check_size, "", "size"));
  app.add_option("--types", types, "Element types [u8,bf16,f32,f64]; casts have their own")->delimiter(',');
  add_options(app, options, "Fewer sizes, families and rounds");
  app.add_option("--sweep", options.sweep,
                 fmt::format("Time a grid of tiles, stages, warps and CTAs of one family: {}",
                             fmt::join(families_with_tiles(), ", ")))
      ->type_name("FAMILY")
      ->check(CLI::IsMember(families_with_tiles()));
  app.add_option("--expr", options.expression, "The sweep's expression [x * 2 + 1]");
  app.add_option("--limit", options.limit, "Limit for the candidates of a sweep [500]")
      ->check(CLI::Range(1, 100000));
  app.add_option("--pack", options.pack, "Pack for the group cold [the packs that come with the library]")
      ->check(CLI::ExistingFile);
  app.add_option("--probe", options.probe)->group("");
  const std::optional<int> exit_code = parse(app, argc, argv, options, 5, [&] {
    for (const auto& type : types) options.types.push_back(parse_type(type));
    const bool computes = !options.sweep.empty() && tmajit::find_family(options.sweep).computes;
    if (!options.expression.empty() && !computes) {
      throw CLI::ValidationError("--expr", "belongs to --sweep of a family that computes");
    }
  });
  const bool sweeps = !options.sweep.empty();
  if (options.sizes.empty()) {
    options.sizes = sweeps          ? std::vector{GiB}
                    : options.quick ? std::vector{MiB, GiB}
                                    : std::vector{64 * KiB, MiB, 16 * MiB, 256 * MiB, GiB, 4 * GiB};
  }
  if (options.types.empty()) {
    using enum ElementType;
    options.types = sweeps ? std::vector{f32} : std::vector{u8, bf16, f32, f64};
  }
  return exit_code;
}

}  // namespace bench
