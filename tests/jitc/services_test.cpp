/// Output for code hosts and CI services, `jitc lint --entry`, and exit codes.
#include "subprocess.hpp"

#include <filesystem>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <spdlog/fmt/fmt.h>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A folder with examples/launch and a variant of its kernel without the proxy fence.
struct ServiceExample : Folder {
  ServiceExample() {
    for (const auto* name : {"scale.ptx", "scale.json"})
      write_file(*this / name, read_file(std::filesystem::path(JITC_EXAMPLE_LAUNCH) / name));
    auto text = read_file(*this / "scale.ptx");
    const std::string fence = "fence.proxy.async.shared::cta;";
    text.replace(text.find(fence), fence.size(), "");
    write_file(*this / "broken.ptx", text);
  }
  [[nodiscard]] jitc::ProcessResult run(const std::string& ptx, const std::string& format) const {
    return jitc::test::jitc(
        {"run", "--ptx", *this / ptx, "--launch", *this / "scale.json", "--format", format});
  }
};

/// Two kernels: the first has an unknown instruction, the second initialises an mbarrier with a count of 0.
const std::string two_kernels =
    ".version 8.0\n.target sm_90a\n.address_size 64\n.shared .align 8 .b64 bar;\n"
    ".visible .entry _Z5firstv()\n{\n.reg .b32 %r<3>;\nfrobnicate.b32 %r1, %r2;\nret;\n}\n"
    ".visible .entry _Z6secondv()\n{\nmbarrier.init.shared.b64 [bar], 0;\nret;\n}\n";

}  // namespace

TEST_CASE("reports of a run are printed as SARIF") {
  const ServiceExample example;
  const auto clean = example.run("scale.ptx", "sarif");
  CHECK(clean.status == 0);
  CHECK(nlohmann::json::parse(clean.out).at("runs").at(0).at("results").empty());
  const auto wrong = example.run("broken.ptx", "sarif");
  CHECK(wrong.status == 1);
  const auto run = nlohmann::json::parse(wrong.out).at("runs").at(0);
  CHECK(run.at("tool").at("driver").at("name") == "jitc run");
  REQUIRE(run.at("results").size() == 1);
  const auto& result = run.at("results").at(0);
  CHECK(result.at("ruleId") == "store.missing-proxy-fence");
  CHECK(result.at("level") == "error");
  CHECK_THAT(result.at("message").at("text").get<std::string>(),
             ContainsSubstring(", thread (0, 0, 0), 4 times]"));
  const auto& physical = result.at("locations").at(0).at("physicalLocation");
  CHECK(physical.at("artifactLocation").at("uri") == example / "broken.ptx");
  CHECK(physical.at("region").at("startLine") == 54);
  CHECK(example.run("scale.ptx", "xml").status == 2);
}

TEST_CASE("reports of a run are printed as JUnit's XML") {
  const ServiceExample example;
  CHECK_THAT(example.run("scale.ptx", "junit").out,
             ContainsSubstring("<testsuite name=\"jitc run\" tests=\"1\" failures=\"0\"") &&
                 ContainsSubstring("name=\"scale\"></testcase>"));
  const auto wrong = example.run("broken.ptx", "junit");
  CHECK(wrong.status == 1);
  CHECK_THAT(wrong.out, ContainsSubstring("tests=\"1\" failures=\"1\"") &&
                            ContainsSubstring("scale: store.missing-proxy-fence at line 54"));
}

TEST_CASE("findings name the frames of inlined calls in every format") {
  const Folder folder;
  const std::string file = folder / "k.ptx";
  write_file(file,
             ".version 8.0\n.target sm_90a\n.address_size 64\n.shared .align 8 .b64 bar;\n"
             ".file 1 \"/a/scale.cu\"\n.file 2 \"/b/barrier.cuh\"\n.visible .entry k()\n{\n"
             ".loc 1 7 3\n.loc 2 30 5, function_name $L__info_string0, inlined_at 1 7 3\n"
             "mbarrier.init.shared.b64 [bar], 0;\nret;\n}\n"
             ".section .debug_str\n{\n$L__info_string0:\n.b8 105,110,105,116,0\n}\n");
  const auto text = jitc::test::jitc({"lint", file});
  CHECK(text.status == 1);
  CHECK_THAT(text.out, ContainsSubstring("mbarrier.count, PTX line 11: barrier.cuh:30\n") &&
                           ContainsSubstring("mbarrier.count, PTX line 11: scale.cu:7\n"));
  const auto json = jitc_json({"lint", file}, 1);
  CHECK(json.at("findings").at(0).at("source").size() == 2);
  const auto log = nlohmann::json::parse(jitc::test::jitc({"lint", file, "--format", "sarif"}).out);
  const auto& related = log.at("runs").at(0).at("results").at(0).at("relatedLocations");
  REQUIRE(related.size() == 2);
  CHECK(related.at(1).at("physicalLocation").at("artifactLocation").at("uri") == "/b/barrier.cuh");
  CHECK(related.at(1).at("physicalLocation").at("region").at("startLine") == 30);
}

TEST_CASE("a finding's location is the innermost frame in the user's own files") {
  const Folder folder;
  const std::string file = folder / "k.ptx";
  // Writes PTX whose finding has these frames, the outermost first.
  const auto write = [&](const std::vector<std::string>& paths) {
    std::string text = ".version 8.0\n.target sm_90a\n.address_size 64\n.shared .align 8 .b64 bar;\n";
    for (std::size_t i = 0; i < paths.size(); ++i) text += fmt::format(".file {} \"{}\"\n", i + 1, paths[i]);
    text += ".visible .entry k()\n{\n.loc 1 10 1\n";
    for (std::size_t i = 1; i < paths.size(); ++i)
      text += fmt::format(".loc {} {} 1, function_name $L__info_string0, inlined_at {} {} 1\n", i + 1,
                          10 * (i + 1), i, 10 * i);
    text +=
        "mbarrier.init.shared.b64 [bar], 0;\nret;\n}\n"
        ".section .debug_str\n{\n$L__info_string0:\n.b8 105,110,105,116,0\n}\n";
    write_file(file, text);
  };
  const std::string root = folder / "";
  struct Case {
    std::vector<std::string> paths;
    std::string uri;
    int line;
  };
  const std::vector<Case> cases{
      // The inner one of two files of the project, even if library headers are outside of and between them.
      {{"/opt/cutlass/include/cutlass/device_kernel.h", root + "gemm.cu", root + "src/mainloop.cuh",
        "/opt/cutlass/include/cute/arch/copy_sm90_tma.hpp"},
       "src/mainloop.cuh",
       30},
      // Copies of libraries in the project are not the user's files.
      {{root + "gemm.cu", root + "third_party/cutlass/include/cutlass/arch/barrier.h"}, "gemm.cu", 10},
      {{root + "gemm.cu", root + "cutlass/include/cutlass/arch/barrier.h"}, "gemm.cu", 10},
      {{root + "a/gemm.cu", root + "extern/ThunderKittens/include/ops/warp.cuh"}, "a/gemm.cu", 10},
      {{root + "gemm.cu", root + ".venv/lib/python3.12/site-packages/flashinfer/data/include/x.cuh"},
       "gemm.cu",
       10},
      // A user's folder with the name of a library holds the user's files.
      {{root + "cuda/gemm.cu", root + "cuda/wrappers.cuh"}, "cuda/wrappers.cuh", 20},
      {{root + "csrc/cutlass/gemm.cu", "/usr/local/cuda-13.0/include/cuda_fp16.hpp"},
       "csrc/cutlass/gemm.cu",
       10},
      {{root + "gemm.cu", "/usr/local/cuda/targets/x86_64-linux/include/cccl/cuda/__ptx/x.h"}, "gemm.cu", 10},
      // Files outside of the project: the outermost frame that is not in a library.
      {{"/build/kernels/gemm.cu", "/build/kernels/mainloop.cuh", "/usr/local/cuda/include/cuda/ptx"},
       "/build/kernels/gemm.cu",
       10},
      {{"/build/cutlass/include/cutlass/device_kernel.h", "/build/kernels/epilogue.hpp"},
       "/build/kernels/epilogue.hpp",
       20},
      // All frames are in libraries.
      {{"/b/include/cutlass/device_kernel.h", "/b/include/cute/arch/x.hpp"},
       "/b/include/cutlass/device_kernel.h",
       10}};
  for (const Case& each : cases) {
    write(each.paths);
    INFO(each.paths.back());
    const auto sarif = jitc::test::jitc({"lint", file, "--format", "sarif", "--project", root});
    CHECK(sarif.status == 1);
    const auto result = nlohmann::json::parse(sarif.out).at("runs").at(0).at("results").at(0);
    const auto& physical = result.at("locations").at(0).at("physicalLocation");
    CHECK(physical.at("artifactLocation").at("uri") == each.uri);
    CHECK(physical.at("region").at("startLine") == each.line);
    // The related locations are the PTX and the other frames.
    CHECK(result.at("relatedLocations").size() == each.paths.size());
    const std::string name = each.uri.substr(each.uri.rfind('/') + 1);
    const std::string place = fmt::format("source {}:{}]", name, each.line);
    const auto text = jitc::test::jitc({"lint", file, "--project", root}).out;
    CHECK_THAT(text, ContainsSubstring(place));
    const auto first = text.find("mbarrier.count, PTX line ");
    REQUIRE(first != std::string::npos);
    CHECK(text.substr(text.find(": ", first) + 2).starts_with(fmt::format("{}:{}\n", name, each.line)));
    CHECK_THAT(jitc::test::jitc({"lint", file, "--format", "junit", "--project", root}).out,
               ContainsSubstring(fmt::format(", {}:{}, inlined from", each.uri, each.line)));
  }
}

TEST_CASE("lint checks only the kernel that --entry names, and notes appear in every format") {
  const Folder folder;
  const std::string file = folder / "two.ptx";
  write_file(file, two_kernels);
  CHECK(jitc::test::jitc({"lint", file}).status == 1);
  CHECK(jitc::test::jitc({"lint", file, "--entry", "second"}).status == 1);
  CHECK(jitc::test::jitc({"lint", file, "--entry", "_Z5firstv"}).status == 0);
  const auto wrong = jitc::test::jitc({"lint", file, "--entry", "third"});
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.err, ContainsSubstring("--entry") && ContainsSubstring("\"third\" is no kernel"));

  const auto sarif = jitc::test::jitc({"lint", file, "--entry", "first", "--format", "sarif"});
  CHECK(sarif.status == 0);
  const auto log = nlohmann::json::parse(sarif.out);
  REQUIRE(log.at("runs").at(0).at("results").size() == 1);
  const auto& note = log.at("runs").at(0).at("results").at(0);
  CHECK(note.at("ruleId") == "instruction.unknown");
  CHECK(note.at("level") == "note");
  CHECK(note.at("locations").at(0).at("physicalLocation").at("region").at("startLine") == 8);
  CHECK_THAT(jitc::test::jitc({"lint", file, "--entry", "first", "--format", "junit"}).out,
             ContainsSubstring("failures=\"0\" errors=\"0\" skipped=\"1\"") &&
                 ContainsSubstring("instruction.unknown at line 8\"><skipped message="));
}

TEST_CASE("exit codes have the meanings that --help and the documentation list") {
  const ServiceExample example;
  const std::string missing = example / "none/x.ptx";
  const std::vector<std::pair<std::vector<std::string>, int>> cases{
      {{"lint", example / "scale.ptx"}, 0},
      {{"run", "--ptx", example / "scale.ptx", "--launch", example / "scale.json"}, 0},
      {{"lint", example / "broken.ptx"}, 1},
      {{"run", "--ptx", example / "broken.ptx", "--launch", example / "scale.json"}, 1},
      {{"lint", example / "scale.ptx", "--nonsense"}, 2},
      {{"validate", "copy", "--box", "3x3"}, 2},
      {{"run", "--ptx", missing, "--launch", example / "scale.json"}, 3},
      {{"ptx", "map", "--expr", "wrong"}, 3},
      {{"ptx", "copy", "-o", missing}, 3},
      {{"run", "copy", "--shape", "64x64", "--device", "gpu:999"}, 3}};
  for (const auto& [words, status] : cases) {
    const auto result = jitc::test::jitc(words);
    INFO(result.err);
    CAPTURE(words);
    CHECK(result.status == status);
  }
  // --help and docs/check.md have the same table.
  const std::string help = jitc::test::jitc({"--help"}).out;
  const std::string page = read_file(std::filesystem::path(JITC_DOCUMENTATION) / "check.md");
  for (const auto* const row : {"0  done, and nothing found",
                                "1  findings: of lint, of the simulated device, "
                                "of a comparison",
                                "2  wrong usage, or something that is not legal",
                                "3  it could not be done: no device, no compiler, a file that cannot be read "
                                "or written"}) {
    CHECK_THAT(help, ContainsSubstring(row));
    std::string cell = std::string("| ") + row + " |";
    cell.replace(3, 2, " | ");
    CHECK_THAT(page, ContainsSubstring(cell));
  }
}
