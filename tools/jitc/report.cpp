#include "report.hpp"

#include "files.hpp"
#include "memory_image.hpp"
#include "terminal.hpp"
#include "text.hpp"

#include <tmajit/report/findings.hpp>

#include <array>

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

using tmajit::KernelPlan;
using tmajit::TensorView;

std::uint32_t product(const std::array<std::uint32_t, 3>& numbers) {
  return numbers[0] * numbers[1] * numbers[2];
}

/// A short name for a plan's key, the same in every process (FNV-1a of 64 bits).
std::string short_key(const KernelPlan& plan) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : plan.key()) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return fmt::format("{:016x}", hash);
}

}  // namespace

Json to_json(const KernelPlan& plan) {
  const auto shape = plan.shape();
  const auto& launch = plan.launch_shape();
  Json parameters = Json::array();
  for (const auto& parameter : plan.parameters()) {
    Json one{{"type", parameter.type},
             {"name", parameter.name},
             {"offset", parameter.offset},
             {"bytes", parameter.bytes}};
    if (parameter.map_of >= 0) one["map_of"] = parameter.map_of;
    parameters.push_back(std::move(one));
  }
  return {{"family", plan.family().name},
          {"key", short_key(plan)},
          {"choice", plan.choice().text()},
          {"why", plan.why()},
          {"expression", plan.expression()},
          {"tile", shape.tile},
          {"tiles", shape.tiles},
          {"threads", shape.threads},
          {"stages", shape.stages},
          {"dynamic_shared_bytes", shape.dynamic_shared_bytes},
          {"static_shared_bytes", shape.static_shared_bytes},
          {"ctas_per_sm", shape.ctas_per_sm},
          {"bytes_in_flight", shape.bytes_in_flight},
          {"bytes_read", plan.bytes_read()},
          {"bytes_written", plan.bytes_written()},
          {"predicted_us", plan.predicted_us()},
          {"tuned", plan.tuned()},
          {"parameters", parameters},
          {"launch",
           {{"grid", launch.grid},
            {"block", launch.block},
            {"cluster", launch.cluster},
            {"shared_bytes", launch.shared_bytes}}}};
}

Json to_json(const TensorView& view) {
  return {{"type", tmajit::name(view.type)}, {"shape", extents(view)}, {"strides", strides(view)}};
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

Json to_json(const tmajit::Finding& finding) {
  return Json::parse(tmajit::finding_json(finding));
}

Json to_json(const tmajit::CompilerIdentity& compiler) {
  return {{"name", "NVRTC"},
          {"version", fmt::format("{}.{}", compiler.major, compiler.minor)},
          {"build", compiler.build},
          {"path", compiler.path}};
}

Json to_json(const KernelPlan& plan, const tmajit::Kernel& kernel) {
  Json json{{"spec", to_json(plan)}};
  json.update(to_json(kernel, plan.launch_shape()));
  return json;
}

Json to_json(const tmajit::Kernel& kernel, const tmajit::LaunchShape& launch) {
  const auto& times = kernel.times();
  const auto artifact = kernel.artifact();
  const auto& resources = kernel.resources();
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
       {{"static_bytes", resources.static_shared_bytes}, {"dynamic_bytes", launch.shared_bytes}}},
      {"barriers", resources.barriers},
      {"threads", product(launch.block)},
      {"source_bytes", artifact.source.size()},
      {"ptx_bytes", artifact.ptx.size()},
      {"cubin_bytes", artifact.cubin.size()},
      {"log", artifact.log}};
}

Json to_json(const Problem& problem) {
  Json tensors = Json::array();
  const auto add = [&](const Array& array) {
    auto& tensor = tensors.emplace_back(to_json(array.view));
    tensor["name"] = array.name;
  };
  for (const auto& input : problem.inputs) add(input);
  for (std::size_t i = 0; i < problem.files.size(); ++i)
    tensors[i]["file"] = problem.files[i].path().string();
  for (const auto& output : problem.outputs) add(output);
  return {{"operation", problem.word},
          {"arguments", problem.arguments},
          {"tensors", tensors},
          {"notes", problem.notes}};
}

Json to_json(const std::vector<tmajit::SourcePlace>& places) {
  Json json = Json::array();
  for (const auto& place : places)
    json.push_back({{"file", place.file}, {"line", place.line}, {"text", place.text}});
  return json;
}

void print_json(const Json& json) {
  // Names and expressions come from the user and need not be UTF-8.
  write_stdout(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void report_failure(tmajit::ErrorCode code, const std::string& message, Json& report,
                    const std::vector<tmajit::Violation>& violations) {
  tell("{} {}\n", styled("jitc: error:", Style::bad, STDERR_FILENO), message);
  report["error"] = {{"code", tmajit::name(code)}, {"message", message}, {"violations", to_json(violations)}};
}

std::string describe(const TensorView& view) {
  auto text = fmt::format("{} {}", tmajit::name(view.type),
                          view.rank == 0 ? "scalar" : fmt::to_string(fmt::join(extents(view), "x")));
  if (!is_dense(view)) {
    text += fmt::format(", strides {}", fmt::join(strides(view), ","));
  }
  return text;
}

std::string describe(const KernelPlan& plan) {
  const auto& launch = plan.launch_shape();
  return fmt::format("{}: {}, {} of {} threads", plan.choice().text(), counted(plan.shape().tiles, "tile"),
                     counted(product(launch.grid), "CTA"), product(launch.block));
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

std::string describe_resources(const tmajit::Kernel& kernel, std::uint32_t shared_bytes) {
  const auto& resources = kernel.resources();
  const auto spilled = resources.spill_store_bytes + resources.spill_load_bytes;
  return fmt::format("{} registers, {}, {} shared memory, {}", resources.registers,
                     spilled == 0 ? std::string("no spills") : fmt::format("{} bytes of spills", spilled),
                     describe_bytes(resources.static_shared_bytes + shared_bytes),
                     counted(resources.barriers, "barrier"));
}

std::string violation_table(const std::vector<tmajit::Violation>& violations, std::size_t width) {
  Rows rows{{"RULE", "SUBJECT", "FOUND", "NEED", "NEAREST LEGAL", "SOURCE"}};
  for (const auto& violation : violations) {
    rows.push_back({violation.rule, violation.subject, violation.found, violation.need, violation.legal,
                    violation.source});
  }
  return format_table(rows, width);
}

}  // namespace jitc
