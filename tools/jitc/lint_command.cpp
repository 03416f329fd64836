#include "commands.hpp"
#include "files.hpp"
#include "options.hpp"
#include "parse.hpp"
#include "problem.hpp"
#include "report.hpp"
#include "terminal.hpp"

#include <tmajit/lint.hpp>
#include <tmajit/runtime.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <memory>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

using tmajit::Error;
using tmajit::ErrorCode;
using tmajit::MapFacts;

struct LintCommand {
  KernelOptions kernel;  ///< its family may be a file instead
  CompilerOptions compiler;
  std::vector<std::string> maps;
  std::vector<std::string> box_bytes;
};

/// A module to look at, and what is known of it besides its text.
struct Subject {
  std::string text;
  tmajit::LintOptions options;
};

[[noreturn]] void refuse(std::string_view option, std::string_view text, std::string_view need) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{} {}: {}", option, text, need));
}

/// PARAM=REST
std::pair<std::string, std::string> split_fact(std::string_view option, const std::string& text,
                                               std::string_view need) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) refuse(option, text, need);
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// "0=bf16:64x64:128B"
MapFacts parse_map(const std::string& text) {
  constexpr auto need =
      "a parameter's name or number, its type, its box and perhaps a swizzle: 0=bf16:64x64:128B";
  const auto [parameter, rest] = split_fact("--map", text, need);
  std::vector<std::string> words{""};
  for (const char c : rest) {
    if (c == ':') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  if (words.size() < 2 || words.size() > 3) refuse("--map", text, need);
  const auto box = parse_box(words[1], "--map");
  if (box.size() > tmajit::max_map_rank)
    refuse("--map", text, fmt::format("a box of {} dimensions at most", tmajit::max_map_rank));
  tmajit::TensorMapSpec spec;
  spec.type = tmajit::parse_element_type(words[0]);
  spec.rank = static_cast<std::uint8_t>(box.size());
  if (words.size() == 3) spec.swizzle = tmajit::parse_swizzle(words[2]);
  std::copy(box.begin(), box.end(), spec.box.begin());
  std::fill_n(spec.element_strides.begin(), box.size(), 1U);
  return map_facts(parameter, spec);
}

/// "0=8192"
MapFacts parse_box_bytes(const std::string& text) {
  constexpr auto need = "a parameter's name or number, and bytes: 0=8192";
  const auto [parameter, rest] = split_fact("--box-bytes", text, need);
  MapFacts facts;
  facts.parameter = parameter;
  const char* const end = rest.data() + rest.size();
  const auto [stop, error] = std::from_chars(rest.data(), end, facts.box_bytes);
  if (error != std::errc() || stop != end || facts.box_bytes == 0) refuse("--box-bytes", text, need);
  return facts;
}

bool is_family(const std::string& word) {
  return std::any_of(tmajit::all_families.begin(), tmajit::all_families.end(),
                     [&](tmajit::Family family) { return tmajit::name(family) == word; });
}

Subject read_file(const LintCommand& command) {
  Subject subject;
  const std::string& path = command.kernel.family;
  const bool is_standard_input = path == "-";
  try {
    const InputFile file(is_standard_input ? "/dev/stdin" : path);
    subject.text.assign(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  } catch (const Error& error) {
    // An exit code of 1 says that there are findings.
    throw Error(ErrorCode::invalid_argument, fmt::format("{}, and no family is called so", error.what()));
  }
  subject.options.name = is_standard_input ? "standard input" : path;
  for (const std::string& text : command.maps) subject.options.maps.push_back(parse_map(text));
  for (const std::string& text : command.box_bytes) subject.options.maps.push_back(parse_box_bytes(text));
  return subject;
}

/// A family's kernel, and the tensor maps that it takes first of all its parameters.
Subject make_kernel(const LintCommand& command) {
  if (!command.maps.empty() || !command.box_bytes.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "--map and --box-bytes tell what is known of a file's parameters; a family's follow from its "
                "options");
  }
  const Problem problem = make_problem(command.kernel, Padding::no);
  require_legal(problem);
  const Progress progress("compiling");
  tmajit::Runtime runtime(runtime_options(command.compiler));
  const auto kernel = runtime.kernel(problem.spec);
  Subject subject;
  subject.text = kernel.artifact().ptx;
  subject.options.name = kernel.artifact().entry + ".ptx";
  const auto family = problem.spec.family;
  if (family == tmajit::Family::bulk) return subject;
  const std::size_t maps = family == tmajit::Family::snapshot ? 1 : problem.views.size();
  for (std::uint32_t i = 0; i < maps; ++i) {
    subject.options.maps.push_back(
        map_facts(std::to_string(i), tensor_map(problem.spec, i, problem.views[i], problem.l2, problem.oob)));
  }
  return subject;
}

Json to_json(const tmajit::Finding& finding) {
  return {{"rule", finding.rule},
          {"kernel", finding.kernel},
          {"ptx_line", finding.ptx_line},
          {"ptx_column", finding.ptx_column},
          {"instruction", finding.instruction},
          {"source_line", finding.source_line},
          {"found", finding.found},
          {"expected", finding.expected},
          {"remedy", finding.remedy}};
}

int lint(const LintCommand& command, bool json) {
  const Subject subject = is_family(command.kernel.family) ? make_kernel(command) : read_file(command);
  const auto start = std::chrono::steady_clock::now();
  const tmajit::LintResult result = lint_ptx(subject.text, subject.options);
  const double milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (json) {
    Json findings = Json::array();
    for (const tmajit::Finding& finding : result.findings) findings.push_back(to_json(finding));
    print_json({{"input", subject.options.name},
                {"clean", result.findings.empty()},
                {"kernels", result.kernels},
                {"findings", findings},
                {"unfinished", result.unfinished},
                {"milliseconds", milliseconds}});
    return result.findings.empty() ? 0 : 1;
  }
  write_stdout(result.report);
  for (const std::string& check : result.unfinished)
    fmt::print(stderr, "{} too many paths to follow them all, {}\n",
               styled("unfinished:", Style::warn, STDERR_FILENO), check);
  if (result.findings.empty()) {
    write_stdout(fmt::format("{}: {}, {}\n", styled("clean", Style::good, STDOUT_FILENO),
                             subject.options.name,
                             result.kernels.size() == 1 ? fmt::format("kernel {}", result.kernels.front())
                                                        : fmt::format("{} kernels", result.kernels.size())));
    return 0;
  }
  fmt::print(stderr, "{} {} in {}\n", styled("findings:", Style::bad, STDERR_FILENO), result.findings.size(),
             subject.options.name);
  return 1;
}

}  // namespace

void add_lint_command(CLI::App& app, Session& session) {
  auto& command =
      *app.add_subcommand("lint", "Check the PTX of a file or a family for protocol mistakes, unrun");
  auto options = std::make_shared<LintCommand>();
  add_kernel_options(command, options->kernel);
  command.get_option("FAMILY")->description(
      "A PTX file, - for standard input, or a family (copy, map, bulk, snapshot) with its options; a file "
      "whose "
      "name is a family's is ./copy");
  add_compiler_options(command, options->compiler);
  constexpr auto facts = "What is known of a file's tensor maps";
  command
      .add_option("--map", options->maps,
                  "PARAM=TYPE:BOX[:SWIZZLE], as 0=bf16:64x64:128B. PARAM is the kernel parameter that is the "
                  "map: its "
                  "name, or its number from 0. Repeat it for other maps")
      ->type_name("MAP")
      ->group(facts)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      .add_option("--box-bytes", options->box_bytes,
                  "PARAM=BYTES, as 1=8192: the same, if only the bytes of a box are known")
      ->type_name("BYTES")
      ->group(facts)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_common_options(command, session);
  command.footer(
      "Exit code: 0 clean, 1 findings, 2 wrong usage. What is not certain is not reported.\n\n"
      "Examples:\n"
      "  jitc lint kernel.ptx\n"
      "  jitc lint kernel.ptx --map 0=bf16:64x64:128B --box-bytes 1=8192\n"
      "  nvcc -ptx -arch=sm_90a -lineinfo -o - kernel.cu | jitc lint -\n"
      "  jitc lint map --expr 'x0 + x1' --box 16x64 --json");
  command.callback(
      [options, &session] { session.action = [options, &session] { return lint(*options, session.json); }; });
}

}  // namespace jitc
