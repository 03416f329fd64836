#include "sim/support.hpp"

#include "sim/decode/decode.hpp"

#include <sstream>

namespace tests {

tmajit::Artifact module_of(const std::string& body, std::uint32_t parameters, const std::string& before,
                           const std::string& directives) {
  std::ostringstream text;
  text << ".version 9.0\n.target sm_90a\n.address_size 64\n" << before << ".visible .entry k(";
  for (std::uint32_t i = 0; i < parameters; ++i) text << (i == 0 ? "" : ", ") << ".param .u64 p" << i;
  text << ")" << (directives.empty() ? "" : "\n") << directives << "\n{\n" << body << "\n}\n";
  tmajit::Artifact artifact;
  artifact.entry = std::string("k");
  artifact.ptx = text.str();
  return artifact;
}

std::string refusal(const tmajit::Artifact& artifact) {
  const auto refusals = tmajit::sim::decode(artifact.ptx, artifact.entry).refusals;
  return refusals.empty() ? std::string() : refusals.front();
}

std::vector<std::string> rules(const tmajit::SimDevice& device) {
  std::vector<std::string> names;
  for (const tmajit::Report& report : device.reports()) names.push_back(report.rule);
  return names;
}

}  // namespace tests
