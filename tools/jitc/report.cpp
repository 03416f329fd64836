#include "report.hpp"

#include "files.hpp"
#include "terminal.hpp"

#include <tmajit/report/plan.hpp>

#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {

Json to_json(const tmajit::KernelPlan& plan) {
  return Json::parse(plan_json(plan));
}

Json to_json(const std::vector<tmajit::Violation>& violations) {
  return Json::parse(tmajit::violations_json(violations));
}

Json to_json(const tmajit::CompilerIdentity& compiler) {
  return Json::parse(compiler_json(compiler));
}

Json to_json(const tmajit::KernelPlan& plan, const tmajit::Kernel& kernel) {
  Json json{{"spec", to_json(plan)}};
  json.update(to_json(kernel, plan.launch_shape()));
  return json;
}

Json to_json(const tmajit::Kernel& kernel, const tmajit::LaunchShape& launch) {
  return Json::parse(kernel_json(kernel, launch));
}

Json to_json(const Problem& problem) {
  Json tensors = Json::array();
  const auto add = [&](const Array& array) {
    auto& tensor = tensors.emplace_back(Json::parse(view_json(array.view)));
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

Json to_json(const Chain& chain) {
  Json json = to_json(chain.first());
  for (std::size_t k = 1; k < chain.steps.size(); ++k) json["then"].push_back(to_json(chain.steps[k]));
  return json;
}

void print_json(const Json& json) {
  write_stdout(tmajit::json_text(json, 2) + "\n");
}

void report_failure(tmajit::ErrorCode code, const std::string& message, Json& report,
                    const std::vector<tmajit::Violation>& violations) {
  write_stderr("{} {}\n", styled("jitc: error:", Style::bad, STDERR_FILENO), message);
  report["error"] = {{"code", tmajit::name(code)}, {"message", message}, {"violations", to_json(violations)}};
}

}  // namespace jitc
