#include "lint/support.hpp"

#include "ptx_alone.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace tests {

using namespace tmajit;

Module module_of(const KernelPlan& plan) {
  Module module;
  module.ptx = compile(source(plan), ptx_alone).ptx;
  const std::vector<Parameter> parameters = plan.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (parameters[i].map) module.options.maps.push_back(map_facts(std::to_string(i), *parameters[i].map));
  }
  return module;
}

namespace {

std::string read(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

Module pipeline() {
  const auto map = [](const char* number) { return MapFacts{number, 8192, 2, 4, 128}; };
  return {read(TMAJIT_LINT_DATA "/pipeline.ptx"), {.maps = {map("0"), map("1"), map("2")}}};
}

Module example(const std::string& file, const std::string& entry, std::vector<MapFacts> maps,
               std::vector<KernelConstant> constants) {
  Module module;
  module.ptx = compile(source({.text = read(TMAJIT_EXAMPLE_FILES "/" + file),
                               .file = file,
                               .entry = entry,
                               .constants = std::move(constants)}),
                       ptx_alone)
                   .ptx;
  module.options.maps = std::move(maps);
  return module;
}

Module idioms(bool mutants) {
  return {compile(source({.text = read(TMAJIT_LINT_DATA "/idioms.cu"),
                          .file = "idioms.cu",
                          .entry = "one_of_a_warp",
                          .constants = {{"mutant", mutants}}}),
                  ptx_alone)
              .ptx,
          {}};
}

std::string entry(const std::string& body, const std::string& parameters, const std::string& before) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n" + before + "\n.visible .entry k(" + parameters +
         ")\n{\n" + body + "\n}\n";
}

std::vector<std::string> rules(const LintResult& result) {
  std::vector<std::string> names;
  for (const Finding& finding : result.findings) names.push_back(finding.rule);
  return names;
}

}  // namespace tests
