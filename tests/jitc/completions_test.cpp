/// Completions of shells, and the manual page. Each script runs if its shell is installed.
#include "subprocess.hpp"

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;

namespace {

using Line = std::vector<std::string>;

Line lines(const std::string& text) {
  Line result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

/// Runs a program of $PATH.
jitc::ProcessResult run_installed(const std::string& program, const Line& arguments) {
  return jitc::run_process(find_program(program), arguments);
}

/// Writes the completions of a shell to a file and returns its path.
std::filesystem::path script(const Folder& folder, const std::string& shell) {
  const auto path = folder / ("completions." + shell);
  const auto written = jitc::test::jitc({"completions", shell, "-o", path});
  REQUIRE(written.status == 0);
  return path;
}

/// The words that bash offers for the last of `words`, as it splits a line: at spaces and equals signs.
Line bash_offers(const Folder& folder, const Line& words) {
  constexpr auto program =
      "cd \"$1\"; source completions.bash; shift; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _jitc; "
      "printf '%s\\n' \"${COMPREPLY[@]}\"";
  const auto run =
      run_installed("bash", Line{"--norc", "-c", program, "bash", folder.path().string()} + words);
  CHECK(run.err.empty());
  auto offers = lines(run.out);
  std::erase(offers, "");
  return offers;
}

bool has(const Line& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

TEST_CASE("bash completes commands, options and their values") {
  const Folder folder;
  static_cast<void>(script(folder, "bash"));
  write_file(folder / "array.npy", "");
  write_file(folder / "a b.npy", "");
  std::filesystem::create_directory(folder / "arrays");
  const auto offers = [&](const Line& words) { return bash_offers(folder, words); };

  CHECK(has(offers({"jitc", ""}), "launch-file"));
  CHECK(offers({"jitc", "va"}) == Line{"validate"});
  CHECK(offers({"jitc", "cache", ""}) == Line{"stat", "ls", "verify", "trim", "clear"});
  CHECK(offers({"jitc", "completions", ""}) == Line{"bash", "zsh", "fish"});
  CHECK(offers({"jitc", "cache", "ls", "--ca"}) == Line{"--cache-dir"});
  CHECK(has(offers({"jitc", "run", "permute", "-"}), "--sim-mode"));
  CHECK(has(offers({"jitc", "run", "permute", "-"}), "--no-line-info"));

  CHECK(offers({"jitc", "run", "perm"}) == Line{"permute"});
  CHECK(offers({"jitc", "run", "arr"}) == Line{"array.npy", "arrays"});  // OPERATION may be a file
  CHECK(offers({"jitc", "validate", "arr"}).empty());
  CHECK(offers({"jitc", "run", "copy", "--sim-mode", ""}) == Line{"late", "early", "random"});
  CHECK(offers({"jitc", "run", "copy", "--sim-mode", "=", ""}) == Line{"late", "early", "random"});
  CHECK(offers({"jitc", "run", "copy", "--sim-mode", "="}) == Line{"late", "early", "random"});
  CHECK(offers({"jitc", "run", "copy", "--sim-mode=e"}) == Line{"--sim-mode=early"});
  CHECK(offers({"jitc", "layout", "--swizzle", "1"}) == Line{"128B"});
  CHECK(offers({"jitc", "run", "cast", "--out-dtype", "bf"}) == Line{"bf16"});
  CHECK(offers({"jitc", "run", "map", "--dtype", "f32,bf"}) == Line{"f32,bf16"});
  CHECK(offers({"jitc", "explain", "copy", "--device", "h"}) == Line{"h200"});
  CHECK(offers({"jitc", "run", "copy", "--device", "h"}).empty());
  CHECK(offers({"jitc", "lint", "k.ptx", "--allow", "mbarrier.init-n"}) == Line{"mbarrier.init-not-fenced"});

  CHECK(offers({"jitc", "run", "copy", "--in", "arr"}) == Line{"array.npy", "arrays"});
  CHECK(offers({"jitc", "run", "copy", "--in", "a "}) == Line{"a b.npy"});
  CHECK(offers({"jitc", "headers", "-o", "arr"}) == Line{"arrays"});
  CHECK(offers({"jitc", "run", "copy", "--shape", ""}).empty());
}

TEST_CASE("completions offer every command and option of the help") {
  const Folder folder;
  static_cast<void>(script(folder, "bash"));
  const auto zsh = read_file(script(folder, "zsh"));
  const auto fish = read_file(script(folder, "fish"));
  const auto page = jitc::test::jitc({"man"}).out;
  std::set<std::string> seen;
  for (const auto& command : bash_offers(folder, {"jitc", ""})) {
    const auto help = jitc::test::jitc({command, "--help"}).out;
    const auto offers = bash_offers(folder, {"jitc", command, "-"});
    const std::regex option("(^|\n)  (-[a-zA-Z],)?(--[a-z0-9-]+)");
    for (std::sregex_iterator match(help.begin(), help.end(), option), end; match != end; ++match) {
      const auto name = (*match)[3].str();
      INFO(command << " " << name);
      CHECK(has(offers, name));
      if (!seen.insert(name).second) continue;
      CHECK_THAT(zsh, ContainsSubstring(name + "=[") || ContainsSubstring(name + "["));
      CHECK_THAT(fish, ContainsSubstring(" -l " + name.substr(2) + " "));
      CHECK_THAT(std::regex_replace(page, std::regex(R"(\\-)"), "-"), ContainsSubstring(name));
    }
    CHECK_THAT(zsh, ContainsSubstring("'" + command + ":"));
    CHECK_THAT(fish, ContainsSubstring(" -a " + command + " "));
  }
  CHECK(seen.size() > 70);
}

TEST_CASE("every value that completions offer is legal") {
  const Folder folder;
  static_cast<void>(script(folder, "bash"));
  const auto check = [&](const Line& words, const std::string& option) {
    const auto values = bash_offers(folder, Line{"jitc"} + words + Line{option, ""});
    CHECK(values.size() > 1);
    for (const auto& value : values) {
      INFO(option << " " << value);
      const auto run = jitc::test::jitc(words + Line{option, value});
      CHECK_THAT(run.err, !ContainsSubstring("there is no") && !ContainsSubstring("has no"));
    }
  };
  check({"layout", "--box", "16x16"}, "--type");
  check({"layout", "--box", "16x16"}, "--swizzle");
  check({"layout", "--box", "16x16"}, "--interleave");
  check({"layout", "--type", "bf16", "--box", "16x16"}, "--pattern");
  check({"validate", "scan", "--axis", "0", "--shape", "64"}, "--direction");
  check({"validate", "copy", "--box", "64x64"}, "--l2");
  for (const auto& operation : bash_offers(folder, {"jitc", "validate", ""})) {
    INFO(operation);
    CHECK_THAT(jitc::test::jitc({"validate", operation, "--shape", "64x64"}).err,
               !ContainsSubstring("there is no"));
  }
}

TEST_CASE("fish completes values") {
  if (find_program("fish").empty()) SKIP("no fish");
  const Folder folder;
  const auto path = script(folder, "fish");
  const auto offers = [&](const std::string& line) {
    const auto run = run_installed(
        "fish", {"--no-config", "-c", fmt::format("source {}; complete -C '{}'", path.string(), line)});
    CHECK(run.err.empty());
    return run.out;
  };
  CHECK_THAT(offers("jitc run copy --sim-mode ea"), ContainsSubstring("early"));
  CHECK_THAT(offers("jitc run map --dtype f32,bf"), ContainsSubstring("f32,bf16"));
  CHECK_THAT(offers("jitc cache "), ContainsSubstring("clear") && !ContainsSubstring("doctor"));
  CHECK_THAT(offers("jitc va"), ContainsSubstring("validate"));
}

TEST_CASE("every installed shell accepts its completions") {
  const Folder folder;
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    if (find_program(shell).empty()) continue;
    const auto run = run_installed(shell, {"-n", script(folder, shell).string()});
    INFO(shell << ": " << run.err);
    CHECK(run.status == 0);
    CHECK(run.err.empty());
  }
}

TEST_CASE("the manual page is valid") {
  const Folder folder;
  const auto page = folder / "jitc.1";
  REQUIRE(jitc::test::jitc({"man", "-o", page}).status == 0);
  CHECK_THAT(read_file(page),
             ContainsSubstring(".SH NAME\njitc \\- makes ") && ContainsSubstring(".SH SYNOPSIS\n") &&
                 ContainsSubstring("\\fBjitc cache ls\\fR") && ContainsSubstring("Exit code:"));
  bool checked = false;
  const auto check = [&](const std::string& program, const Line& arguments) {
    if (find_program(program).empty()) return;
    const auto run = run_installed(program, arguments);
    INFO(program << ": " << run.out << run.err);
    CHECK(run.status == 0);
    CHECK(run.err.empty());
    checked = true;
  };
  check("groff", {"-man", "-ww", "-Kutf8", "-Tutf8", "-z", page});
  check("mandoc", {"-Tlint", "-Werror", page});
  if (!checked) SKIP("neither groff nor mandoc");
}

TEST_CASE("completions of an unknown shell are refused") {
  CHECK_THAT(refusal({"completions", "tcsh"}),
             ContainsSubstring("there is no \"tcsh\"; legal: bash, zsh, fish"));
}
