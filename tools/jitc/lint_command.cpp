#include "check/kernel_name.hpp"
#include "commands.hpp"
#include "files.hpp"
#include "finding_formats.hpp"
#include "option_group.hpp"
#include "parse.hpp"
#include "plan_kernels.hpp"
#include "ptx/parser.hpp"
#include "report.hpp"
#include "spec/suggestion.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "usage.hpp"

#include <tmajit/launch/buffers.hpp>
#include <tmajit/launch/kernels.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>

#include <CLI/CLI.hpp>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

namespace jitc {
namespace {

using tmajit::Error;
using tmajit::MapFacts;

struct LintCommand : KernelOptions {
  std::vector<std::string> maps;
  std::vector<std::string> box_bytes;
  std::vector<std::string> allow;
  std::vector<std::string> allow_files;
  std::string fail_on = "advice";
  std::string format = "text";
  std::string project = ".";
  bool require_kernel = false;
};

/// A PTX module to check, and facts that its text does not state.
struct Subject {
  std::string text;
  tmajit::Artifact artifact = {};  ///< the same PTX, and its CUDA C++ if jitc compiled it
  tmajit::LintOptions options;
  std::size_t first_given_map = 0;  ///< index of the first of LintOptions::maps that the user gave
};

/// Splits "PARAM=REST" at the equals sign; errors end with `expected`, the form of the option's value.
std::pair<std::string, std::string> split_fact(std::string_view option, const std::string& text,
                                               std::string_view expected) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size())
    refuse("{} {}: {}", option, text, expected);
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// Splits a parameter such as "0+64", byte 64 of parameter 0, into parameter and offset; "0" has offset 0.
MapFacts with_offset(MapFacts facts, std::string_view option, const std::string& text,
                     std::string_view expected) {
  const std::size_t plus = facts.parameter.find('+');
  if (plus == std::string::npos) return facts;
  const auto offset = parse_number<decltype(MapFacts::offset)>(facts.parameter.substr(plus + 1));
  if (plus == 0 || !offset) refuse("{} {}: {}", option, text, expected);
  facts.parameter.resize(plus);
  facts.offset = *offset;
  return facts;
}

/// Parses a value of --map: "0=bf16:64x64:128B".
MapFacts parse_map(const std::string& text) {
  constexpr auto expected =
      "a parameter's name or number, its type, its box and perhaps a swizzle: 0=bf16:64x64:128B";
  const auto [parameter, rest] = split_fact("--map", text, expected);
  const auto words = split(rest, ':');
  if (words.size() < 2 || words.size() > 3) refuse("--map {}: {}", text, expected);
  const auto box = parse_box(words[1], "--map");
  if (box.size() > tmajit::max_map_rank)
    refuse("--map {}: a box has at most {} dimensions", text, tmajit::max_map_rank);
  tmajit::TensorMapSpec spec;
  spec.type = tmajit::parse<tmajit::ElementType>(words[0]);
  spec.rank = static_cast<std::uint8_t>(box.size());
  if (words.size() == 3) spec.swizzle = tmajit::parse<tmajit::Swizzle>(words[2]);
  std::copy(box.begin(), box.end(), spec.box.begin());
  std::fill_n(spec.element_strides.begin(), box.size(), 1U);
  return with_offset(map_facts(parameter, spec), "--map", text, expected);
}

/// Parses a value of --box-bytes: "0=8192".
MapFacts parse_box_bytes(const std::string& text) {
  constexpr auto expected = "a parameter's name or number, and bytes: 0=8192";
  const auto [parameter, rest] = split_fact("--box-bytes", text, expected);
  const auto bytes = parse_number<decltype(MapFacts::box_bytes)>(rest);
  if (!bytes || *bytes == 0) refuse("--box-bytes {}: {}", text, expected);
  MapFacts facts;
  facts.parameter = parameter;
  facts.box_bytes = *bytes;
  return with_offset(facts, "--box-bytes", text, expected);
}

bool is_operation(std::string_view word) {
  const auto words = operation_words();
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Adds the facts that --map and --box-bytes give.
void add_facts(const LintCommand& command, Subject& subject) {
  subject.first_given_map = subject.options.maps.size();
  for (const std::string& text : command.maps) subject.options.maps.push_back(parse_map(text));
  for (const std::string& text : command.box_bytes) subject.options.maps.push_back(parse_box_bytes(text));
}

/// The symbol of the kernel whose name contains `part`, the value of --entry. Empty if the text does not
/// parse, which lint reports.
std::string entry_of(const Subject& subject, const std::string& part) {
  if (part.empty() || !tmajit::ptx::parse(subject.text, subject.options.name)) return {};
  try {
    return tmajit::choose_kernel(tmajit::kernels_of(subject.text, subject.options.name), part).name;
  } catch (const Error& error) {
    refuse("{}: --entry: {}", subject.options.name, error.what());
  }
}

Subject read_file(const LintCommand& command) {
  Subject subject;
  const std::string& path = command.problem.word;
  try {
    subject.text = InputFile(path).text();
  } catch (const Error& error) {
    if (path.find_first_of("./") != std::string::npos) throw;  // a path, not a misspelt operation
    refuse("{}, and no operation or family has this name{}", error.what(),
           tmajit::suggestion(path, operation_words()));
  }
  subject.artifact.ptx = subject.text;
  subject.options.name = tmajit::input_name(path);
  subject.options.entry = entry_of(subject, command.own.entry);
  add_facts(command, subject);
  return subject;
}

/// The kernel of a file of CUDA C++.
Subject make_own_kernel(const LintCommand& command) {
  const std::string& path = command.problem.word;
  const tmajit::KernelFile file = read_own_kernel(path, command.own);
  Subject subject;
  {
    const Progress progress("compiling");
    subject.artifact = compile_kernel_file(planning_runtime(command.compiler), file).artifact();
  }
  subject.text = subject.artifact.ptx;
  subject.options.name = path + ".ptx";
  if (file.launch) {
    subject.options.maps = naming(command.own.launch, [&] {
      return tmajit::LaunchBuffers(*file.launch, file.launch_folder).map_facts(*file.launch);
    });
  }
  add_facts(command, subject);
  return subject;
}

/// The kernel of an operation, and the tensor maps that it takes.
Subject make_kernel(const LintCommand& command) {
  if (!command.maps.empty() || !command.box_bytes.empty()) {
    refuse(
        "--map and --box-bytes describe a file's parameters; those of an operation follow from its options");
  }
  const Problem problem = make_problem(command.problem, Purpose::look);
  auto runtime = planning_runtime(command.compiler, select_chip("auto").chip);
  const auto plans = plan_kernels(problem, problem.planning_addresses(), runtime);
  const auto& plan = kernel_of_step(plans, command.step);
  const auto kernel = make_kernels({plan}, runtime).front();
  Subject subject;
  subject.artifact = kernel.artifact();
  subject.text = subject.artifact.ptx;
  subject.options.name = kernel.entry() + ".ptx";
  subject.options.maps = map_facts(plan);
  subject.first_given_map = subject.options.maps.size();
  return subject;
}

Subject subject_of(const LintCommand& command) {
  if (is_operation(command.problem.word)) return make_kernel(command);
  return is_own_kernel(command.problem.word) ? make_own_kernel(command) : read_file(command);
}

/// Adds the allowed rules, and a function that reads sources, whose comments may allow more rules.
void add_allowed(const LintCommand& command, Subject& subject) {
  auto& allowed = subject.options.allowed;
  const auto add = [&](std::string_view text, const std::string& name) {
    try {
      const auto rules = tmajit::parse_allowed_rules(text, name);
      allowed.insert(allowed.end(), rules.begin(), rules.end());
    } catch (const Error& error) {
      refuse("{}", error.what());
    }
  };
  for (const std::string& text : command.allow) {
    for (const auto& rule : split(text, ',')) add(rule, "--allow " + text);
  }
  for (const std::string& path : command.allow_files) add(InputFile(path).text(), tmajit::input_name(path));
  subject.options.read_source = tmajit::read_source_file;
}

std::vector<tmajit::SourceLocation> locations_of(const Subject& subject, const tmajit::Finding& finding) {
  auto locations = source_locations(subject.artifact, finding.ptx_line);
  mark_own(locations, finding);
  return locations;
}

/// Prints the source lines that a finding's instruction comes from, those in the user's files first. Prints
/// nothing if the finding itself names the only line.
void say_places(const Subject& subject, const tmajit::Finding& finding) {
  const auto locations = own_first(locations_of(subject, finding));
  if (locations.size() < 2 && (locations.empty() || locations.front().text.empty())) return;
  for (const auto& location : locations)
    write_stdout("  {}, PTX line {}: {}\n", finding.rule, finding.ptx_line, describe(location));
}

/// "PARAM" or "PARAM+OFFSET", as in --map and --box-bytes.
std::string shown(const MapFacts& facts) {
  return facts.offset == 0 ? facts.parameter : fmt::format("{}+{}", facts.parameter, facts.offset);
}

/// Refuses facts about a parameter that no kernel has, and two facts about one map. lint itself reports a
/// text that does not parse.
void refuse_unknown_parameters(const Subject& subject) {
  const auto& options = subject.options;
  if (subject.first_given_map == options.maps.size()) return;
  const auto parsed = tmajit::ptx::parse(subject.text, options.name);
  if (!parsed) return;
  std::vector<bool> found(options.maps.size());
  std::vector<std::string> names;
  std::string declared;
  for (const auto& directive : parsed.module->directives) {
    const auto* const kernel = std::get_if<tmajit::ptx::Function>(&directive);
    if (kernel == nullptr || !kernel->is_entry || !kernel->body) continue;
    if (!options.entry.empty() && kernel->name != options.entry) continue;
    std::vector<std::string> parameters;
    std::map<std::pair<std::size_t, std::uint64_t>, std::size_t> seen;
    for (std::size_t i = 0; i < kernel->parameters.size(); ++i) {
      names.push_back(kernel->parameters[i].name);
      parameters.push_back(fmt::format("{} {}", i, names.back()));
      for (std::size_t fact = subject.first_given_map; fact < options.maps.size(); ++fact) {
        const MapFacts& facts = options.maps[fact];
        if (facts.parameter != names.back() && facts.parameter != std::to_string(i)) continue;
        found[fact] = true;
        const auto [before, fresh] = seen.try_emplace({i, facts.offset}, fact);
        if (!fresh)
          refuse("--map or --box-bytes of {} and of {}: both name the same tensor map of kernel {}",
                 shown(options.maps[before->second]), shown(facts), tmajit::check::shown_name(kernel->name));
      }
    }
    declared +=
        fmt::format("; kernel {} has {}", tmajit::check::shown_name(kernel->name),
                    parameters.empty() ? "no parameters" : fmt::format("{}", fmt::join(parameters, ", ")));
  }
  for (std::size_t fact = subject.first_given_map; fact < options.maps.size(); ++fact) {
    if (found[fact] || declared.empty()) continue;
    refuse("--map or --box-bytes of {}: no kernel of {} has such a parameter{}{}", shown(options.maps[fact]),
           options.name, declared, tmajit::suggestion(options.maps[fact].parameter, names));
  }
}

/// Refuses --map and --box-bytes of a parameter that no kernel uses as a tensor map, instead of calling it
/// clean.
void refuse_unused_maps(const Subject& subject, const tmajit::LintResult& result) {
  // Findings come first: a map may be unused because its copy is missing.
  if (!result.findings.empty()) return;
  for (const std::size_t i : result.unused_maps) {
    if (i < subject.first_given_map) continue;
    refuse("--map or --box-bytes of {}: no kernel of {} takes that parameter as a tensor map",
           shown(subject.options.maps[i]), subject.options.name);
  }
}

int lint(const LintCommand& command, bool json) {
  Subject subject = subject_of(command);
  // The source of an operation's kernel is tmajit's, not the user's.
  if (!is_operation(command.problem.word)) subject.options.project = command.project;
  add_allowed(command, subject);
  refuse_unknown_parameters(subject);
  const auto start = std::chrono::steady_clock::now();
  const tmajit::LintResult result = [&] {
    const Progress progress("checking");
    return lint_ptx(subject.text, subject.options);
  }();
  const double milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  // A text that does not parse has findings.
  if (command.require_kernel && result.kernels.empty() && result.findings.empty()) {
    refuse(
        "{} has no kernel, so nothing was checked; a template becomes a kernel only where it is instantiated",
        subject.options.name);
  }
  refuse_unused_maps(subject, result);
  const auto threshold = tmajit::parse<tmajit::Severity>(command.fail_on);
  const bool failed = std::ranges::any_of(result.findings,
                                          [&](const auto& finding) { return finding.severity >= threshold; });
  if (json || is_for_services(command.format)) {
    std::vector<std::vector<tmajit::SourceLocation>> locations;
    for (const tmajit::Finding& finding : result.findings)
      locations.push_back(locations_of(subject, finding));
    const bool compiled_here = !subject.artifact.source.empty();
    const FindingsReport report{.tool = "jitc lint",
                                .input = subject.options.name,
                                .source = compiled_here ? command.problem.word : "",
                                .kernels = result.kernels,
                                .findings = result.findings,
                                .locations = locations,
                                .notes = result.notes,
                                .unfinished = result.unfinished,
                                .fails = threshold};
    if (json) {
      Json page = Json::parse(findings_json(report));
      page["allowed"] = result.allowed.size();
      page["milliseconds"] = milliseconds;
      print_json(page);
    } else {
      print_findings(report, command.format);
    }
    return failed ? exit_code::problems_found : exit_code::done;
  }
  write_stdout(result.report);
  for (const tmajit::Finding& finding : result.findings) say_places(subject, finding);
  for (const std::string& check : result.unfinished)
    write_stderr("{} too many paths to follow them all, {}\n",
                 styled("unfinished:", Style::warn, STDERR_FILENO), check);
  if (!result.allowed.empty())
    write_stderr("{} {}, by an option or a comment\n", styled("allowed:", Style::warn, STDERR_FILENO),
                 result.allowed.size());
  if (result.findings.empty()) {
    write_stdout("{}: {}, {}\n", styled("clean", Style::good, STDOUT_FILENO), subject.options.name,
                 result.kernels.size() == 1 ? "kernel " + tmajit::check::shown_name(result.kernels.front())
                                            : fmt::format("{} kernels", result.kernels.size()));
    return 0;
  }
  write_stderr("{} {} in {}\n", styled("findings:", Style::bad, STDERR_FILENO), result.findings.size(),
               subject.options.name);
  return failed ? exit_code::problems_found : exit_code::done;
}

}  // namespace

void add_lint_command(CLI::App& app, Session& session) {
  auto& command = *app.add_subcommand(
      "lint", "Check the PTX of a file or an operation for protocol mistakes, without running it");
  auto options = std::make_shared<LintCommand>();
  add_kernel_options(
      command, *options,
      "A file of PTX, a file of CUDA C++ (kernel.cu), - for standard input, or an operation or a "
      "family with its options. A file with the name of an operation needs a path: ./copy. ");
  OptionGroup facts(command, "Facts about a file's tensor maps");
  facts.add_list("--map", options->maps, "MAP",
                 "PARAM=TYPE:BOX[:SWIZZLE], such as 0=bf16:64x64:128B. PARAM is the kernel parameter that is "
                 "the map: its name, or its number from 0. For a map in a struct, add its offset in bytes: "
                 "0+64. Repeat the option for other maps");
  facts.add_list("--box-bytes", options->box_bytes, "BYTES",
                 "PARAM=BYTES, such as 1=8192: the size of a map's box, if no more is known");
  OptionGroup rules(command, "Findings and their form");
  rules
      .add_list("--allow", options->allow, "RULE[,RULE…]",
                "Rules whose findings are not reported, separated by commas")
      ->check(offers(rule_ids()));
  rules.add_list("--allow-file", options->allow_files, "FILE",
                 "A file of such rules, one per line: RULE [KERNEL] [# remark]. KERNEL may have the "
                 "wildcards * and ?. In PTX and in readable sources, the comment // tmajit-allow: RULE "
                 "allows the rule on its line and the next");
  rules
      .add("--fail-on", options->fail_on, "SEVERITY",
           "The lowest severity that makes the exit code 1: advice, omission (the PTX ISA requires it, but "
           "kernels that work leave it out) or mistake")
      ->check(one_of({"advice", "omission", "mistake"}));
  rules.add_flag("--require-kernel", options->require_kernel,
                 "Fail with exit code 2 if there is no kernel to check");
  add_format_option(rules, options->format);
  add_project_option(rules, options->project);
  command.footer(
      "Exit code: 0 clean, 1 findings, 2 wrong usage, 3 failed. Mistakes that are not certain are not "
      "reported.\n\n"
      "Examples:\n"
      "  jitc lint kernel.ptx\n"
      "  jitc lint kernel.ptx --entry scale\n"
      "  jitc lint kernel.cu --launch launch.json\n"
      "  jitc lint kernel.ptx --map 0=bf16:64x64:128B --box-bytes 1=8192\n"
      "  nvcc -ptx -arch=sm_90a -lineinfo -o - kernel.cu | jitc lint -\n"
      "  jitc lint kernel.ptx --format sarif > findings.sarif\n"
      "  jitc lint map --expr 'x0 + x1' --box 16x64 --json");
  add_action(command, session, [options, &command](bool json) {
    check_own_usage(command, options->problem.word, !is_operation(options->problem.word));
    return lint(*options, asks_for_json(json, options->format));
  });
}

}  // namespace jitc
