#include "check.hpp"

#include "kernel_arguments.hpp"
#include "runtimes.hpp"

#include <tmajit/error.hpp>
#include <tmajit/lint.hpp>
#include <tmajit/sim.hpp>

#include <optional>
#include <utility>

#include <nanobind/stl/vector.h>

namespace tmajit::python {
namespace {

nb::object to_text(const std::string& bytes) {
  return nb::steal(PyUnicode_DecodeUTF8(bytes.data(), static_cast<Py_ssize_t>(bytes.size()), "replace"));
}

nb::dict described(const Finding& finding) {
  nb::dict fields;
  fields["rule"] = finding.rule;
  fields["severity"] = std::string(name(finding.severity));
  fields["kernel"] = finding.kernel;
  fields["file"] = to_text(finding.source_path.empty() ? finding.source_file : finding.source_path);
  fields["line"] = finding.source_line;
  fields["ptx_line"] = finding.ptx_line;
  fields["ptx_column"] = finding.ptx_column;
  fields["instruction"] = to_text(finding.instruction);
  fields["found"] = to_text(finding.found);
  fields["expected"] = to_text(finding.expected);
  fields["remedy"] = to_text(finding.remedy);
  const Rule* const rule = find_rule(finding.rule);
  fields["meaning"] = std::string(rule != nullptr ? rule->meaning : "");
  fields["source"] = std::string(rule != nullptr ? rule->source : "");
  return fields;
}

/// The kernel of a module whose name contains `entry`, or the only kernel.
std::optional<PtxKernel> kernel_of(const std::string& ptx, const std::string& entry) {
  return choose_kernel(kernels_of(ptx, "ptx"), entry);
}

nb::tuple lint(const std::string& ptx, const std::string& entry, const nb::tuple& arguments,
               const std::vector<std::string>& allowed, const std::string& project) {
  LintOptions options{.entry = {}, .project = project, .read_source = read_source_file};
  for (const std::string& rule : allowed) options.allowed.push_back({.rule = rule});
  if (!entry.empty() || !arguments.empty()) {
    const PtxKernel kernel = *kernel_of(ptx, entry);
    options.entry = kernel.name;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (nb::isinstance<PythonTensorMap>(arguments[i])) {
        options.maps.push_back(
            map_facts(std::to_string(i), nb::cast<const PythonTensorMap&>(arguments[i]).spec));
      }
    }
  }
  LintResult result;
  {
    const nb::gil_scoped_release released;
    result = lint_ptx(ptx, options);
  }
  nb::list findings;
  for (const Finding& finding : result.findings) findings.append(described(finding));
  return nb::make_tuple(findings, to_text(result.report), result.kernels);
}

nb::tuple simulate(const std::string& ptx, const std::string& entry, const nb::tuple& given, nb::handle grid,
                   nb::handle block, std::uint32_t shared_bytes, nb::handle cluster, bool cooperative,
                   const std::string& mode, std::uint64_t seed, bool races,
                   const std::vector<std::string>& allowed, const std::string& project, double seconds) {
  const PtxKernel kernel = *kernel_of(ptx, entry);
  const KernelArguments arguments(given, kernel);
  for (const Operand& operand : arguments.operands) {
    if (operand.on_gpu())
      throw Error(ErrorCode::invalid_argument, "the simulated device takes only arrays in the CPU's memory");
  }
  const LaunchShape shape{.grid = to_extent(grid, "grid"),
                          .block = to_extent(block, "block"),
                          .shared_bytes = shared_bytes,
                          .cluster = to_extent(cluster, "cluster"),
                          .cooperative = cooperative};
  std::vector<Report> reports;
  std::string printed;
  std::uint64_t instructions = 0;
  {
    const nb::gil_scoped_release released;
    const std::shared_ptr<SimDevice> device =
        make_sim_device({.mode = parse<SimOptions::Mode>(mode),
                         .seed = seed,
                         .races = races,
                         .seconds_limit = seconds,
                         .project = project,
                         .allowed = allowed,
                         .keep_going = true,
                         .print = [&](std::string_view text) { printed += text; }});
    Artifact artifact;
    artifact.entry = kernel.name;
    artifact.ptx = ptx;
    const std::unique_ptr<LoadedKernel> loaded = device->kernels().load(artifact);
    loaded->allow_shared_bytes(shared_bytes);
    const MappedMemory mapped(*device, arguments.tensors());
    try {
      arguments.launch(*loaded, *device, shape, nullptr);
      device->streams().synchronize(nullptr);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::device_failed || device->reports().empty()) throw;
    }
    reports = device->reports();
    instructions = device->thread_instructions();
  }
  nb::list findings;
  for (const Report& report : reports) {
    nb::dict fields = described(report);
    fields["cta"] = nb::make_tuple(report.cta[0], report.cta[1], report.cta[2]);
    fields["thread"] = nb::make_tuple(report.thread[0], report.thread[1], report.thread[2]);
    fields["count"] = report.count;
    fields["text"] = to_text(report.text());
    findings.append(fields);
  }
  return nb::make_tuple(findings, to_text(printed), instructions);
}

nb::list rules() {
  nb::list all;
  for (const Rule& rule : check_rules()) {
    nb::dict fields;
    fields["rule"] = std::string(rule.id);
    fields["severity"] = std::string(name(rule.severity));
    fields["meaning"] = std::string(rule.meaning);
    fields["legal"] = std::string(rule.legal);
    fields["remedy"] = std::string(rule.remedy);
    fields["source"] = std::string(rule.source);
    all.append(fields);
  }
  return all;
}

}  // namespace

void bind_check(nb::module_& module) {
  module.def("lint", &lint, nb::arg("ptx"), nb::arg("entry"), nb::arg("arguments"), nb::arg("allowed"),
             nb::arg("project"));
  module.def("simulate", &simulate, nb::arg("ptx"), nb::arg("entry"), nb::arg("arguments"), nb::arg("grid"),
             nb::arg("block"), nb::arg("shared_bytes"), nb::arg("cluster"), nb::arg("cooperative"),
             nb::arg("mode"), nb::arg("seed"), nb::arg("races"), nb::arg("allowed"), nb::arg("project"),
             nb::arg("seconds"));
  module.def("rules", &rules, "Every rule that a kernel can break, as dicts.");
}

}  // namespace tmajit::python
