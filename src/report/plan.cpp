#include "report/json.hpp"
#include "report/text.hpp"

#include <tmajit/report/plan.hpp>

#include <algorithm>
#include <array>
#include <ostream>
#include <span>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

std::span<const std::uint64_t> extents_of(const TensorView& view) {
  return std::span(view.shape).first(view.rank);
}
std::span<const std::int64_t> strides_of(const TensorView& view) {
  return std::span(view.strides).first(view.rank);
}

std::uint32_t product(const std::array<std::uint32_t, 3>& numbers) {
  return numbers[0] * numbers[1] * numbers[2];
}

/// A short name for a plan's key, the same in every process (FNV-1a of 64 bits).
std::string short_key(const KernelPlan& plan) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : plan.key()) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return fmt::format("{:016x}", hash);
}

constexpr std::size_t heading_width = 14;

/// Headings on the left, texts on the right, wrapped.
class Page {
 public:
  Page(std::size_t width, bool colour) : width_(std::max(width, heading_width + 40)), colour_(colour) {}

  void title(std::string_view text) { text_ += fmt::format("{}\n", styled(text, Style::bold, colour_)); }
  void row(std::string_view heading, std::string_view text) {
    text_ += labelled(heading, text, heading_width, width_, colour_);
  }
  [[nodiscard]] std::string take() { return std::move(text_); }
  [[nodiscard]] std::size_t text_width() const { return width_ - heading_width; }

 private:
  std::size_t width_;
  bool colour_;
  std::string text_;
};

std::string predicted(const MoveStep& step, double microseconds) {
  const auto bytes = static_cast<double>(step.bytes_read + step.bytes_written);
  return fmt::format("{:.1f} µs, {:.0f} GB/s", microseconds, bytes / microseconds * 1e-3);
}

void add_alternatives(Page& page, const MoveStep& step) {
  if (step.alternatives.empty()) return;
  Rows rows{{"CHOICE", "PREDICTED", "RELATIVE TIME"}};
  for (const auto& other : step.alternatives) {
    rows.push_back(
        {other.choice, predicted(step, other.predicted_us),
         step.predicted_us > 0 ? fmt::format("{:.2f}", other.predicted_us / step.predicted_us) : ""});
  }
  page.row("others", format_table(rows, page.text_width()));
}

void add_step(Page& page, const MoveStep& step) {
  page.row("kernel", step.choice.empty() ? step.kernel : step.choice);
  if (!step.why.empty()) page.row("why", step.why);
  if (!step.canonical.empty()) page.row("canonical", step.canonical);
  for (std::size_t i = 0; i < step.rewrites.size(); ++i) page.row(i == 0 ? "rewrites" : "", step.rewrites[i]);
  page.row("tiles", fmt::format("{} of {}{}", counted(step.tiles, "tile"),
                                step.tile.empty() ? "1" : fmt::to_string(fmt::join(step.tile, "x")),
                                step.shape.empty() ? "" : fmt::format(" in {}", fmt::join(step.shape, "x"))));
  page.row("CTA",
           fmt::format("{} threads, {} registers a thread, {} shared memory, {}", step.threads,
                       step.registers, describe_bytes(step.shared_bytes), counted(step.stages, "stage")));
  if (step.ctas_per_sm != 0) {
    page.row("SM", fmt::format("{} at a time, {} of loads in flight", counted(step.ctas_per_sm, "CTA"),
                               describe_bytes(step.bytes_in_flight)));
  }
  page.row("bytes", fmt::format("{} read, {} written", describe_bytes(step.bytes_read),
                                describe_bytes(step.bytes_written)));
  if (step.predicted_us > 0) {
    page.row("predicted", fmt::format("{}; chosen by {}", predicted(step, step.predicted_us),
                                      step.tuned ? "a measurement (jitc tune)" : "the cost model"));
  }
  add_alternatives(page, step);
}

}  // namespace

std::string plan_json(const KernelPlan& plan) {
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
  const Json json{{"family", plan.family().name},
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
  return json_text(json);
}

std::string kernel_json(const Kernel& kernel, const LaunchShape& launch) {
  const auto& times = kernel.times();
  const auto artifact = kernel.artifact();
  const auto& resources = kernel.resources();
  const Json json{
      {"entry", artifact.entry},
      {"key", kernel.key().hex()},
      {"cache", name(kernel.level())},
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
  return json_text(json);
}

std::string view_json(const TensorView& view) {
  return json_text({{"type", name(view.type)}, {"shape", extents_of(view)}, {"strides", strides_of(view)}});
}

std::string compiler_json(const CompilerIdentity& compiler) {
  return json_text({{"name", "NVRTC"},
                    {"version", fmt::format("{}.{}", compiler.major, compiler.minor)},
                    {"build", compiler.build},
                    {"path", compiler.path}});
}

std::string violations_json(const std::vector<Violation>& violations) {
  Json list = Json::array();
  for (const auto& violation : violations) {
    list.push_back({{"rule", violation.rule},
                    {"subject", violation.subject},
                    {"found", violation.found},
                    {"need", violation.need},
                    {"legal", violation.legal},
                    {"source", violation.source}});
  }
  return json_text(list);
}

std::string describe(const TensorView& view) {
  auto text = fmt::format("{} {}", name(view.type),
                          view.rank == 0 ? "scalar" : fmt::to_string(fmt::join(extents_of(view), "x")));
  if (view != TensorView::contiguous(view.type, extents_of(view))) {
    text += fmt::format(", strides {}", fmt::join(strides_of(view), ","));
  }
  return text;
}

std::string describe(const Plan& plan) {
  const auto list = [](const std::vector<Tensor>& tensors) {
    std::string text;
    for (const Tensor& tensor : tensors) text += (text.empty() ? "" : " and ") + describe(tensor.view);
    return text;
  };
  const Operation& operation = plan.operation();
  std::string text = list(operation.destinations);
  if (!operation.sources.empty()) text += " <- " + list(operation.sources);
  const std::span<const KernelPlan> kernels = plan.plans();
  if (kernels.empty()) return text + ": nothing to move";
  for (const KernelPlan& kernel : kernels) {
    text += fmt::format("{} {} ({:.1f} us)", &kernel == kernels.data() ? ":" : ";", kernel.choice().text(),
                        kernel.predicted_us());
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const KernelPlan& plan) {
  return out << describe(plan);
}
std::ostream& operator<<(std::ostream& out, const TensorView& view) {
  return out << describe(view);
}
std::ostream& operator<<(std::ostream& out, const Plan& plan) {
  return out << describe(plan);
}

std::string describe(const KernelPlan& plan) {
  const auto& launch = plan.launch_shape();
  return fmt::format("{}: {}, {} of {} threads", plan.choice().text(), counted(plan.shape().tiles, "tile"),
                     counted(product(launch.grid), "CTA"), product(launch.block));
}

std::string describe_origin(const Kernel& kernel) {
  const auto& times = kernel.times();
  switch (kernel.level()) {
    case CacheLevel::memory: return "from memory";
    case CacheLevel::pack: return fmt::format("from a pack in {:.2f} ms", times.fetch);
    case CacheLevel::disk: return fmt::format("from the disk cache in {:.2f} ms", times.fetch);
    case CacheLevel::fleet: return fmt::format("from the fleet's store in {:.2f} ms", times.fetch);
    case CacheLevel::compiled: return fmt::format("compiled in {:.1f} ms", times.compile);
  }
  return {};
}

std::string describe_resources(const Kernel& kernel, std::uint32_t shared_bytes) {
  const auto& resources = kernel.resources();
  const auto spilled = resources.spill_store_bytes + resources.spill_load_bytes;
  return fmt::format("{} registers, {}, {} shared memory, {}", resources.registers,
                     spilled == 0 ? std::string("no spills") : fmt::format("{} bytes of spills", spilled),
                     describe_bytes(resources.static_shared_bytes + shared_bytes),
                     counted(resources.barriers, "barrier"));
}

std::string violations_text(const std::vector<Violation>& violations, std::size_t width) {
  Rows rows{{"RULE", "SUBJECT", "FOUND", "NEED", "NEAREST LEGAL", "SOURCE"}};
  for (const auto& violation : violations) {
    rows.push_back({violation.rule, violation.subject, violation.found, violation.need, violation.legal,
                    violation.source});
  }
  return format_table(rows, width);
}

namespace {

Json to_json(const MoveExplanation& explanation) {
  Json steps = Json::array();
  for (const auto& step : explanation.steps) {
    Json alternatives = Json::array();
    for (const auto& other : step.alternatives) {
      alternatives.push_back({{"choice", other.choice}, {"predicted_us", other.predicted_us}});
    }
    steps.push_back({{"kernel", step.kernel},
                     {"choice", step.choice},
                     {"why", step.why},
                     {"canonical", step.canonical},
                     {"rewrites", step.rewrites},
                     {"shape", step.shape},
                     {"tile", step.tile},
                     {"tiles", step.tiles},
                     {"threads", step.threads},
                     {"stages", step.stages},
                     {"shared_bytes", step.shared_bytes},
                     {"registers", step.registers},
                     {"ctas_per_sm", step.ctas_per_sm},
                     {"bytes_in_flight", step.bytes_in_flight},
                     {"bytes_read", step.bytes_read},
                     {"bytes_written", step.bytes_written},
                     {"predicted_us", step.predicted_us},
                     {"tuned", step.tuned},
                     {"alternatives", alternatives}});
  }
  return {
      {"shape_class", explanation.shape_class}, {"planning_us", explanation.planning_us}, {"steps", steps}};
}

}  // namespace

std::string explanation_json(const MoveExplanation& explanation) {
  return json_text(to_json(explanation));
}

std::string explanation_json(const ChainPlan& chain) {
  Json plans = Json::array();
  for (const Plan& plan : chain.plans()) plans.push_back(to_json(plan.explain()));
  return json_text({{"sentences", chain.sentences()}, {"plans", plans}});
}

std::string explanation_text(const std::string& title, const std::vector<PageRow>& first,
                             const MoveExplanation& explanation, std::size_t width, bool colour) {
  Page page(width, colour);
  page.title(title);
  for (const auto& [heading, text] : first) page.row(heading, text);
  const std::size_t count = explanation.steps.size();
  if (count == 0) {
    page.row("plan", "nothing to move: a dimension has the extent 0");
    return page.take();
  }
  if (!explanation.shape_class.empty()) page.row("class", explanation.shape_class);
  for (std::size_t i = 0; i < count; ++i) {
    if (count > 1) page.title(fmt::format("step {} of {}", i + 1, count));
    add_step(page, explanation.steps[i]);
  }
  if (explanation.planning_us > 0) page.row("planned in", fmt::format("{:.1f} µs", explanation.planning_us));
  return page.take();
}

TMAJIT_END
