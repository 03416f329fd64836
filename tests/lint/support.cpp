#include "lint/support.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace tests {

using namespace tmajit;

Module module_of(const KernelSpec& spec, const std::vector<TensorView>& views) {
  Module module;
  module.ptx = compile(generate(spec)).ptx;
  if (spec.family == Family::bulk) return module;
  const std::size_t maps = spec.family == Family::snapshot ? 1 : views.size();
  for (std::uint32_t i = 0; i < maps; ++i)
    module.options.maps.push_back(map_facts(std::to_string(i), tensor_map(spec, i, views[i])));
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

Module example(const std::string& file, const std::string& entry, std::vector<MapFacts> maps) {
  Module module;
  module.ptx = compile(custom_source(read(TMAJIT_EXAMPLE_KERNELS "/" + file), entry, file)).ptx;
  module.options.maps = std::move(maps);
  return module;
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

bool has_rule(const LintResult& result, const std::string& rule) {
  return std::ranges::any_of(result.findings, [&](const Finding& finding) { return finding.rule == rule; });
}

Edit lines(const std::string& needle, const std::function<std::string(const std::string&)>& change, int nth) {
  return [=](const std::string& text) {
    std::istringstream in(text);
    std::string result;
    int n = 0;
    for (std::string line; std::getline(in, line);) {
      if (line.find(needle) != std::string::npos && (nth < 0 || n++ == nth)) line = change(line);
      result += line;
      result += '\n';
    }
    return result;
  };
}

Edit drop(const std::string& needle, int nth) {
  return lines(
      needle, [](const std::string&) { return std::string(); }, nth);
}

Edit drop_last(const std::string& needle) {
  return [=](const std::string& text) {
    int count = 0;
    lines(needle, [&](const std::string& line) {
      ++count;
      return line;
    })(text);
    return drop(needle, count - 1)(text);
  };
}

Edit swap(const std::string& needle, const std::string& from, const std::string& to, int nth) {
  return lines(
      needle,
      [=](const std::string& line) {
        const std::size_t at = line.find(from);
        return at == std::string::npos ? line : line.substr(0, at) + to + line.substr(at + from.size());
      },
      nth);
}

namespace {

Edit adjust_register(const std::string& prefix, const std::string& type, const std::string& needle,
                     std::size_t which, const std::string& amount, int nth) {
  return lines(
      needle,
      [=](const std::string& line) {
        std::size_t at = 0;
        for (std::size_t n = 0;; ++n) {
          do {
            at = line.find(prefix, at == 0 ? 0 : at + 1);
            if (at == std::string::npos) return line;
          } while (line.find_first_of("0123456789", at) != at + prefix.size());
          if (n == which) break;
        }
        const std::size_t end = line.find_first_not_of("0123456789", at + prefix.size());
        return "{\n.reg .b" + type + " mutant;\nadd.s" + type + " mutant, " + line.substr(at, end - at) +
               ", " + amount + ";\n" + line.substr(0, at) + "mutant" + line.substr(end) + "\n}";
      },
      nth);
}

}  // namespace

Edit adjust(const std::string& needle, std::size_t which, const std::string& amount, int nth) {
  return adjust_register("%r", "32", needle, which, amount, nth);
}
Edit adjust_wide(const std::string& needle, std::size_t which, const std::string& amount, int nth) {
  return adjust_register("%rd", "64", needle, which, amount, nth);
}

Edit before(const std::string& needle, const std::string& text, int nth) {
  return lines(
      needle, [=](const std::string& line) { return text + "\n" + line; }, nth);
}

Edit replace(const std::string& from, const std::string& to) {
  return [=](const std::string& text) {
    std::string result = text;
    const std::size_t at = result.find(from);
    if (at != std::string::npos) result.replace(at, from.size(), to);
    return result;
  };
}

}  // namespace tests
