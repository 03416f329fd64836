/// Errors for unknown names: they list the legal names and suggest a similar one.
#include "subprocess.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// The first line of a command's error, without the hint at --help after it.
std::string error_line(const std::vector<std::string>& words) {
  const auto text = refusal(words);
  return text.substr(0, text.find('\n'));
}

}  // namespace

TEST_CASE("a misspelled name gets the similar legal name as a suggestion") {
  struct Slip {
    std::vector<std::string> words;
    const char* says;
    const char* meant;
  };
  const auto slip = GENERATE(values<Slip>({
      {{"souce", "copy"}, "there is no command \"souce\"; legal: source, ptx", "source"},
      {{"explian", "copy", "--box", "4x4"}, "there is no command \"explian\"", "explain"},
      {{"cache", "stats"}, "there is no command \"stats\"; legal: stat, ls, verify, trim, clear", "stat"},
      {{"source", "copy", "--swizle", "128B"}, "jitc source has no option --swizle", "--swizzle"},
      {{"source", "copy", "--swizle=128B"}, "jitc source has no option --swizle", "--swizzle"},
      {{"source", "copy", "--no-lineinfo"}, "jitc source has no option --no-lineinfo", "--no-line-info"},
      {{"layout", "--bxo", "64x64"}, "jitc layout has no option --bxo", "--box"},
      {{"cache", "ls", "--dri", "x"}, "jitc cache ls has no option --dri", "--dir"},
      {{"--verison"}, "jitc has no option --verison", "--version"},
      {{"source", "premute"}, "there is no operation or family \"premute\"; operations are copy", "permute"},
      {{"explain", "transpos"}, "there is no operation or family \"transpos\"", "transpose"},
      {{"run", "snapshots", "--shape", "4x4"}, "there is no operation or family", "snapshot"},
      {{"lint", "cpoy"}, "no operation or family has this name", "copy"},
      {{"source", "copy", "--dtype", "bflat16"}, "no element type is called \"bflat16\"", "bfloat16"},
      {{"source", "cast", "--out-dtype", "f61"}, "no element type is called \"f61\"", "f16"},
      {{"source", "copy", "--swizzle", "123B"}, "--swizzle 123B: there is no such choice", "128B"},
      {{"source", "copy", "--interleave", "3B"}, "--interleave 3B: there is no such choice", "32B"},
      {{"source", "bulk", "--expr", "x", "--l2", "265B"}, "--l2 265B: there is no such choice", "256B"},
      {{"source", "copy", "--oob", "zeros"}, "--oob zeros: there is no such choice", "zero"},
      {{"source", "copy", "--arch", "sm_90"}, "--arch: there is no \"sm_90\"", "sm_90a"},
      {{"source", "copy", "--log-level", "warning"}, "--log-level: there is no \"warning\"", nullptr},
      {{"source", "copy", "--log-level", "wran"}, "--log-level: there is no \"wran\"", "warn"},
      {{"source", "copy", "--log-level", "inf"}, "--log-level: there is no \"inf\"", "info"},
      {{"run", "copy", "--shape", "4", "--device", "smi"}, "--device smi; legal are auto, sim", "sim"},
      {{"run", "copy", "--shape", "4", "--device", "sin"}, "--device sin; legal are auto, sim", "sim"},
      {{"run", "copy", "--shape", "4", "--device", "gpu0"}, "--device gpu0", "gpu"},
      {{"explain", "copy", "--device", "h20"}, "--device h20: this command runs nothing", "h200"},
      {{"tune", "copy", "--device", "gp"}, "--device gp: tuning needs a GPU", "gpu"},
      {{"run", "copy", "--sim-mode", "latte"}, "--sim-mode: there is no \"latte\"", "late"},
      {{"layout", "--box", "8x32", "--colour", "colum"}, "there is no \"colum\"", "column"},
      {{"layout", "--box", "8x32", "--pattern", "collumn"}, "no access pattern is called", "column"},
      {{"frobnicate"}, "there is no command \"frobnicate\"", nullptr},
      {{"source", "copy", "--frob"}, "jitc source has no option --frob", nullptr},
      {{"source", "copy", "--dtype", "quaternion"}, "no element type is called", nullptr},
      {{"doctor", "now"}, "jitc doctor takes no \"now\" here", nullptr},
  }));
  CAPTURE(slip.words);
  const auto line = error_line(slip.words);
  CHECK_THAT(line, ContainsSubstring(slip.says));
  if (slip.meant != nullptr) {
    CHECK(line.ends_with(std::string("; did you mean ") + slip.meant + "?"));
  } else {
    CHECK_THAT(line, !ContainsSubstring("did you mean"));
  }
}

TEST_CASE("misspelled names in a launch description get suggestions, too") {
  const Folder folder;
  write_file(folder / "scale.ptx", read_file(std::string(JITC_EXAMPLE_LAUNCH) + "/scale.ptx"));
  const auto line_for = [&](std::string_view from, std::string_view to) {
    auto text = read_file(std::string(JITC_EXAMPLE_LAUNCH) + "/scale.json");
    text.replace(text.find(from), from.size(), to);
    write_file(folder / "wrong.json", text);
    return error_line({"run", "--ptx", folder / "scale.ptx", "--launch", folder / "wrong.json"});
  };
  CHECK_THAT(line_for("\"block\"", "\"blok\""), ContainsSubstring("did you mean block?"));
  CHECK_THAT(line_for("\"entry\": \"scale\"", "\"entry\": \"scales\""),
             ContainsSubstring("did you mean scale?"));
  CHECK_THAT(line_for("{\"buffer\": \"x\"", "{\"buffer\": \"X\""), ContainsSubstring("did you mean x?"));
}

TEST_CASE("a wrong value is reported before a missing option or file") {
  CHECK_THAT(refusal({"run", "copy", "--dtype", "bflat16"}), ContainsSubstring("bflat16"));
  CHECK_THAT(refusal({"run", "copy", "--in", "/nonexistent.npy", "--dtype", "bflat16"}),
             ContainsSubstring("bflat16"));
  CHECK_THAT(refusal({"run", "cast", "--out-dtype", "f61"}), ContainsSubstring("f61"));
  CHECK_THAT(refusal({"run", "copy", "--slice", "a:b"}), ContainsSubstring("--slice a:b"));
  CHECK_THAT(refusal({"run", "copy", "--in", "/nonexistent.npy", "--swizzle", "96"}),
             ContainsSubstring("--swizzle 96"));
}

TEST_CASE("a repeatable option takes exactly one word") {
  const Folder folder;
  write_npy(folder / "a.npy", "|u1", {3}, "abc");
  CHECK(jitc_json({"run", "--device", "sim", "--in", folder / "a.npy", "copy"}).at("operation") == "copy");
  CHECK(jitc_json({"source", "--dtype", "bf16", "copy"}).at("operation") == "copy");
}

TEST_CASE("the help shows both names of a flag without the parser's markup") {
  const auto help = jitc::test::jitc({"run", "--help"}).out;
  CHECK_THAT(help, ContainsSubstring("--line-info,--no-line-info  ") ||
                       ContainsSubstring("--line-info,--no-line-info\n"));
  CHECK_THAT(help, !ContainsSubstring("{false}"));
}
