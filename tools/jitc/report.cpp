#include "report.hpp"

#include "files.hpp"
#include "table.hpp"

#include <algorithm>
#include <array>

#include <spdlog/fmt/fmt.h>

namespace jitc {
namespace {

using tmajit::KernelSpec;
using tmajit::TensorView;

template <class Numbers>
Json first_of(const Numbers& numbers, std::size_t count) {
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(count, numbers.size()); ++i) list.push_back(numbers[i]);
  return list;
}

bool is_dense(const TensorView& view) {
  return view == TensorView::contiguous(view.type, std::span(view.shape).first(view.rank));
}

}  // namespace

Json to_json(const KernelSpec& spec) {
  Json operands = Json::array();
  for (std::uint32_t i = 0; i <= spec.inputs; ++i) {
    const auto& operand = spec.operands[i];
    operands.push_back({{"role", i < spec.inputs ? "input" : "output"},
                        {"type", tmajit::name(operand.type)},
                        {"swizzle", tmajit::name(operand.swizzle)},
                        {"interleave", tmajit::name(operand.interleave)},
                        {"element_strides", first_of(operand.element_strides, spec.rank)}});
  }
  return {{"family", tmajit::name(spec.family)},
          {"rank", spec.rank},
          {"inputs", spec.inputs},
          {"tile", first_of(spec.tile, spec.rank)},
          {"stages", spec.stages},
          {"output_stages", spec.output_stages},
          {"warps", spec.warps},
          {"ctas_per_sm", spec.ctas_per_sm},
          {"tiles_per_cta", spec.tiles_per_cta},
          {"expression", spec.expression_text()},
          {"operands", operands},
          {"threads", tmajit::threads(spec)},
          {"dynamic_shared_bytes", tmajit::launch_shared_bytes(spec)}};
}

Json to_json(const TensorView& view) {
  return {{"type", tmajit::name(view.type)},
          {"shape", first_of(view.shape, view.rank)},
          {"strides", first_of(view.strides, view.rank)}};
}

Json to_json(const std::vector<tmajit::Violation>& violations) {
  Json list = Json::array();
  for (const auto& violation : violations) {
    list.push_back({{"rule", violation.rule},
                    {"subject", violation.subject},
                    {"found", violation.found},
                    {"need", violation.need},
                    {"legal", violation.legal},
                    {"source", violation.source}});
  }
  return list;
}

Json to_json(const tmajit::CompilerIdentity& compiler) {
  return {{"name", "NVRTC"},
          {"version", fmt::format("{}.{}", compiler.major, compiler.minor)},
          {"build", compiler.build},
          {"path", compiler.path}};
}

LaunchNeeds launch_needs(const KernelSpec& spec) {
  return {.threads = tmajit::threads(spec), .dynamic_shared_bytes = tmajit::launch_shared_bytes(spec)};
}

Json to_json(const tmajit::Kernel& kernel, const LaunchNeeds& needs) {
  const auto& times = kernel.times();
  const auto& artifact = kernel.artifact();
  const auto& resources = artifact.resources;
  return {
      {"entry", artifact.entry},
      {"key", kernel.key().hex()},
      {"cache", tmajit::name(kernel.level())},
      {"milliseconds",
       {{"generate", times.generate},
        {"key", times.key},
        {"fetch", times.fetch},
        {"compile", times.compile},
        {"store", times.store},
        {"load", times.load}}},
      {"registers", resources.registers},
      {"spills", {{"store_bytes", resources.spill_store_bytes}, {"load_bytes", resources.spill_load_bytes}}},
      {"stack_bytes", resources.stack_bytes},
      {"shared_memory",
       {{"static_bytes", resources.static_shared_bytes}, {"dynamic_bytes", needs.dynamic_shared_bytes}}},
      {"barriers", resources.barriers},
      {"threads", needs.threads},
      {"source_bytes", artifact.source.size()},
      {"ptx_bytes", artifact.ptx.size()},
      {"cubin_bytes", artifact.cubin.size()},
      {"log", artifact.log}};
}

Json to_json(const Problem& problem) {
  Json views = Json::array();
  for (std::size_t i = 0; i < problem.views.size(); ++i) {
    Json view = to_json(problem.views[i]);
    view["name"] = operand_name(problem, i);
    if (i < problem.files.size()) view["file"] = problem.files[i].path().string();
    views.push_back(std::move(view));
  }
  return {{"spec", to_json(problem.spec)},
          {"tensors", views},
          {"l2_promotion", tmajit::name(problem.l2)},
          {"oob_fill", tmajit::name(problem.oob)},
          {"notes", problem.notes}};
}

void print_json(const Json& json) {
  // Names and expressions come from the user and need not be UTF-8.
  write_stdout(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string describe_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  constexpr std::array units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string describe(const TensorView& view) {
  const auto shape = std::span(view.shape).first(view.rank);
  auto text = fmt::format("{} {}", tmajit::name(view.type),
                          view.rank == 0 ? "scalar" : fmt::to_string(fmt::join(shape, "x")));
  if (!is_dense(view)) {
    text +=
        fmt::format(", strides {}", fmt::join(view.strides.begin(), view.strides.begin() + view.rank, ","));
  }
  return text;
}

std::string describe(const KernelSpec& spec) {
  std::vector<std::string_view> inputs;
  for (std::uint32_t i = 0; i < spec.inputs; ++i) inputs.push_back(tmajit::name(spec.input(i).type));
  auto text = fmt::format("{} {} to {}, rank {}, tile {}, swizzle {}", tmajit::name(spec.family),
                          fmt::join(inputs, ", "), tmajit::name(spec.output().type), spec.rank,
                          fmt::join(spec.tile.begin(), spec.tile.begin() + spec.rank, "x"),
                          tmajit::name(spec.input(0).swizzle));
  if (spec.input(0).interleave != tmajit::Interleave::none) {
    text += fmt::format(", interleave {}", tmajit::name(spec.input(0).interleave));
  }
  text += fmt::format(", {} stages in", spec.stages);
  if (spec.output_stages != 0) text += fmt::format(" and {} out", spec.output_stages);
  text += fmt::format(", {} threads, {} CTA{} an SM", tmajit::threads(spec), spec.ctas_per_sm,
                      spec.ctas_per_sm == 1 ? "" : "s");
  text += spec.tiles_per_cta == 0
              ? std::string(", a persistent grid")
              : fmt::format(", {} tile{} a CTA", spec.tiles_per_cta, spec.tiles_per_cta == 1 ? "" : "s");
  return text;
}

std::string describe_origin(const tmajit::Kernel& kernel) {
  const auto& times = kernel.times();
  switch (kernel.level()) {
    case tmajit::CacheLevel::memory: return "from memory";
    case tmajit::CacheLevel::disk: return fmt::format("from the disk cache in {:.2f} ms", times.fetch);
    case tmajit::CacheLevel::compiled: return fmt::format("compiled in {:.1f} ms", times.compile);
  }
  return {};
}

std::string describe_resources(const tmajit::Kernel& kernel, const LaunchNeeds& needs) {
  const auto& resources = kernel.artifact().resources;
  const auto spilled = resources.spill_store_bytes + resources.spill_load_bytes;
  return fmt::format("{} registers, {}, {} shared memory, {} barrier{}", resources.registers,
                     spilled == 0 ? std::string("no spills") : fmt::format("{} bytes of spills", spilled),
                     describe_bytes(resources.static_shared_bytes + needs.dynamic_shared_bytes),
                     resources.barriers, resources.barriers == 1 ? "" : "s");
}

std::string violation_table(const std::vector<tmajit::Violation>& violations, std::size_t width) {
  std::vector<std::vector<std::string>> rows{{"RULE", "SUBJECT", "FOUND", "NEED", "NEAREST LEGAL", "SOURCE"}};
  for (const auto& violation : violations) {
    rows.push_back({violation.rule, violation.subject, violation.found, violation.need, violation.legal,
                    violation.source});
  }
  return format_table(rows, width);
}

}  // namespace jitc
