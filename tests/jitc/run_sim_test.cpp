/// `jitc run` on the simulated device.
#include "arrays.hpp"
#include "subprocess.hpp"

#include <tmajit/device.hpp>

#include <cstring>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

/// A folder with a copy of examples/launch.
struct Example : Folder {
  Example() {
    for (const auto* name : {"scale.ptx", "scale.json"}) {
      write_file(*this / name, read_file(std::filesystem::path(JITC_EXAMPLE_LAUNCH) / name));
    }
  }

  /// Writes a copy of the example's file, with `from` replaced by `to`, under another name.
  void edit(const std::string& file, const std::string& from, const std::string& to,
            const std::string& result) const {
    auto text = read_file(*this / file);
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
    write_file(*this / result, text);
  }

  [[nodiscard]] std::vector<std::string> run(const std::string& ptx, const std::string& json,
                                             const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"run", "--ptx", *this / ptx, "--launch", *this / json};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  /// The error of a run of the example with `from` replaced by `to` in one file.
  [[nodiscard]] std::string refusal(const std::string& file, const std::string& from, const std::string& to,
                                    int status) const {
    edit(file, from, to, "changed");
    const bool is_ptx = file.ends_with(".ptx");
    auto text =
        jitc::test::refusal(run(is_ptx ? "changed" : "scale.ptx", is_ptx ? "scale.json" : "changed"), status);
    CHECK_FALSE(std::filesystem::exists(*this / "y.npy"));
    return text;
  }
};

}  // namespace

TEST_CASE("all rules that the tensor maps of a launch break are reported at once") {
  const Example example;
  const auto rules_with = [&](const std::string& from, const std::string& to) {
    example.edit("scale.json", from, to, "changed.json");
    const auto json = jitc_json(example.run("scale.ptx", "changed.json", {"--device", "sim"}), 2);
    std::vector<std::string> found;
    for (const auto& violation : json.at("error").at("violations")) {
      found.push_back(violation.at("subject").get<std::string>() + " " +
                      violation.at("rule").get<std::string>());
    }
    return found;
  };
  using Found = std::vector<std::string>;
  const std::string map = "$.parameters[0].tensor_map: ";
  const std::string whole = R"({"tensor_map": {"buffer": "x", "box": [8, 32]}})";
  const auto x = [](const std::string& fields) {
    return R"({"tensor_map": {"buffer": "x", )" + fields + "}}";
  };
  CHECK(rules_with(whole, x(R"("box": [0, 257], "element_strides": [0, 9], "strides": [24, 1099511627776],
                               "shape": [0, 64], "oob_fill": "nan", "dtype": "u32")")) ==
        Found{map + "oob-fill oob-fill.type", map + "shape[0] shape.range",
              map + "strides[0] strides.multiple", map + "strides[1] strides.innermost",
              map + "box[0] box.range", map + "element_strides[0] element-strides.range",
              map + "box[1] box.range", map + "element_strides[1] element-strides.range",
              map + "box[1] box.inner-bytes"});
  CHECK(rules_with(whole, x(R"("box": [], "dtype": "u32", "oob_fill": "nan")")) ==
        Found{map + "rank rank.range", map + "oob-fill oob-fill.type"});
  CHECK(rules_with(whole, x(R"("box": [1, 0, 1, 1, 8, 32], "shape": [1, 1, 1, 1, 64, 64],
                               "element_strides": [9, 1, 1, 1, 1, 1])")) ==
        Found{map + "rank rank.range", map + "element_strides[0] element-strides.range",
              map + "box[1] box.range"});
}

TEST_CASE("every family with a tile of the caller's choice runs on the simulated device") {
  const Folder folder;
  const auto x = counting(40UL * 24);
  write_npy(folder / "a.npy", "<f4", {40, 24}, bytes_of(x));
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"run"};
    words.insert(words.end(), more.begin(), more.end());
    for (const auto& word : {std::string("--in"), folder / "a.npy", std::string("--out"), folder / "y.npy",
                             std::string("--device"), std::string("sim")}) {
      words.push_back(word);
    }
    const auto json = jitc_json(words);
    const auto& device = json.at("run").at("device");
    CHECK(device.at("simulated") == true);
    CHECK(device.at("name") == "simulated Hopper");
    const auto& simulation = json.at("run").at("simulation");
    CHECK(simulation.at("reports").empty());
    CHECK(simulation.at("thread_instructions").get<std::uint64_t>() > 100);
    // A speed would be mistaken for a GPU's.
    CHECK_FALSE(json.at("run").contains("gb_per_s"));
    CHECK_FALSE(json.at("run").contains("milliseconds"));
    CHECK(json.at("outputs") == std::vector<std::string>{folder / "y.npy"});
    return data_of(folder / "y.npy");
  };
  CHECK(run({"copy", "--box", "8x8"}) == bytes_of(x));
  auto doubled = x;
  for (auto& value : doubled) value = value * 2 + 1;
  CHECK(run({"map", "--expr", "x*2+1", "--box", "16x8", "--swizzle", "32B"}) == bytes_of(doubled));
  CHECK(run({"bulk", "--expr", "x*2+1", "--sim-mode", "random", "--sim-seed", "5"}) == bytes_of(doubled));
  const auto image = run({"snapshot", "--box", "8x24", "--sim-mode", "early"});
  CHECK(image == bytes_of(x));
}

TEST_CASE("option --device auto uses the simulated device if there is no Hopper GPU, with a message") {
  for (const auto& gpu : tmajit::list_gpus()) {
    if (gpu.compute_major == 9 && gpu.compute_minor == 0) SKIP("this machine has a Hopper GPU");
  }
  const Folder folder;
  write_npy(folder / "a.npy", "<f4", {16, 16}, bytes_of(counting(256)));
  const auto result = jitc::test::jitc({"run", "copy", "--in", folder / "a.npy"});
  INFO(result.err);
  CHECK(result.status == 0);
  CHECK_THAT(result.err, ContainsSubstring(": the simulated device runs the kernel\n") &&
                             ContainsSubstring("simulated Hopper: ") &&
                             ContainsSubstring("mode late, seed 1: ") && ContainsSubstring("no reports"));
  CHECK_THAT(result.err, !ContainsSubstring("GB/s") && !ContainsSubstring("median"));
}

TEST_CASE("options for the simulated device select it, and are refused with --device gpu") {
  const Folder folder;
  write_npy(folder / "a.npy", "<f4", {16, 16}, bytes_of(counting(256)));
  const std::vector<std::string> words{"run", "copy", "--in", folder / "a.npy", "--sim-seed", "77"};
  const auto json = jitc_json(words);
  CHECK(json.at("run").at("simulation").at("seed") == 77);
  auto contradiction = words;
  contradiction.insert(contradiction.end(), {"--device", "gpu"});
  const auto refused = jitc::test::jitc(contradiction);
  CHECK(refused.status == 2);
  CHECK_THAT(refused.err, ContainsSubstring("--device gpu") && ContainsSubstring("--device sim"));
  for (const std::vector<std::string>& bad :
       {std::vector<std::string>{"--sim-mode", "never"}, {"--sim-limit", "0"}, {"--sim-threads", "0"}}) {
    auto wrong = words;
    wrong.insert(wrong.end(), bad.begin(), bad.end());
    CHECK(jitc::test::jitc(wrong).status == 2);
  }
}

TEST_CASE("the example launch gives its documented result") {
  const Example example;
  const auto json = jitc_json(example.run("scale.ptx", "scale.json"));
  CHECK(json.at("entry") == "scale");
  CHECK(json.at("run").at("grid") == std::vector<int>{4, 1, 1});
  std::vector<float> expected;
  for (std::size_t i = 0; i < 30UL * 32; ++i) expected.push_back(0.5F * static_cast<float>(i % 4 + 1));
  CHECK(data_of(example / "y.npy") == bytes_of(expected));
}

TEST_CASE("a launch in clusters runs, and its grid must be a multiple of the cluster") {
  const Example example;
  example.edit("scale.json", "\"block\": 64", "\"block\": 64, \"cluster\": 2", "clusters.json");
  const auto json = jitc_json(example.run("scale.ptx", "clusters.json"));
  CHECK(json.at("launch").at("cluster") == std::vector<int>{2, 1, 1});
  std::filesystem::remove(example / "y.npy");
  CHECK_THAT(example.refusal("scale.json", "\"grid\": 4", "\"grid\": 3, \"cluster\": 2", 2),
             ContainsSubstring("$.cluster: [2, 1, 1] does not divide the grid, [3, 1, 1]"));
}

TEST_CASE("the output of a kernel's printf is printed") {
  const Folder folder;
  write_file(folder / "hello.ptx", R"(.version 8.0
.target sm_90a
.address_size 64
.extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 text[7] = {104, 101, 108, 108, 111, 10, 0};
.visible .entry hello()
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  mov.u64 %rd1, text;
  cvta.global.u64 %rd1, %rd1;
  {
    .param .b64 format;
    .param .b64 arguments;
    .param .b32 result;
    st.param.b64 [format], %rd1;
    st.param.b64 [arguments], 0;
    call.uni (result), vprintf, (format, arguments);
    ld.param.b32 %r1, [result];
  }
  ret;
}
)");
  write_file(folder / "hello.json", R"({"grid": 1, "block": 2})");
  const std::vector<std::string> words{"run", "--ptx", folder / "hello.ptx", "--launch",
                                       folder / "hello.json"};
  CHECK(jitc_json(words).at("run").at("simulation").at("printed") == "hello\nhello\n");
  CHECK_THAT(jitc::test::jitc(words).err, ContainsSubstring("printed  hello\nhello\n"));
}

TEST_CASE("a kernel's mistakes are reported with exit code 1 and no output file") {
  const Example example;
  example.edit("scale.ptx", "fence.proxy.async.shared::cta;", "", "broken.ptx");
  const auto text = jitc::test::jitc(example.run("broken.ptx", "scale.json", {"--sim-seed", "3"}));
  INFO(text.err);
  CHECK(text.status == 1);
  CHECK_THAT(text.err,
             ContainsSubstring("report   store.missing-proxy-fence, 4 times\n") &&
                 ContainsSubstring("PTX line 54: cp.async.bulk.tensor.2d.global") &&
                 ContainsSubstring("  found    ") && ContainsSubstring("  legal    ") &&
                 ContainsSubstring("  remedy   ") &&
                 ContainsSubstring("jitc: error: 1 report of the simulated device (mode late, seed 3)"));
  CHECK_THAT(text.err, !ContainsSubstring("\x1b"));
  CHECK_FALSE(std::filesystem::exists(example / "y.npy"));

  const auto json = jitc_json(example.run("broken.ptx", "scale.json"), 1);
  CHECK(json.at("error").at("code") == "device_failed");
  CHECK(json.at("outputs").empty());
  const auto& reports = json.at("run").at("simulation").at("reports");
  REQUIRE(reports.size() == 1);
  CHECK(reports[0].at("rule") == "store.missing-proxy-fence");
  CHECK(reports[0].at("ptx_line") == 54);
  CHECK(reports[0].at("count") == 4);
  for (const auto* key : {"kernel", "instruction", "found", "expected", "remedy"}) {
    CHECK_FALSE(reports[0].at(key).get<std::string>().empty());
  }
}

TEST_CASE("with --keep-going a run shows the mistakes and writes the results") {
  const Example example;
  REQUIRE(jitc::test::jitc(example.run("scale.ptx", "scale.json")).status == 0);
  const std::string right = read_file(example / "y.npy");
  std::filesystem::remove(example / "y.npy");
  example.edit("scale.ptx", "ret;", "setmaxnreg.dec.sync.aligned.u32 12;\nret;", "wrong.ptx");
  CHECK(jitc::test::jitc(example.run("wrong.ptx", "scale.json")).status == 1);
  CHECK_FALSE(std::filesystem::exists(example / "y.npy"));
  const auto going = jitc::test::jitc(example.run("wrong.ptx", "scale.json", {"--keep-going"}));
  INFO(going.err);
  CHECK(going.status == 1);
  CHECK_THAT(going.err, ContainsSubstring("report   setmaxnreg.value") &&
                            ContainsSubstring("the outputs are written nevertheless"));
  CHECK(read_file(example / "y.npy") == right);
  const auto allowed =
      jitc::test::jitc(example.run("wrong.ptx", "scale.json", {"--allow", "setmaxnreg.value"}));
  INFO(allowed.err);
  CHECK(allowed.status == 0);
  example.edit("scale.ptx", "ret;", "trap;\nret;", "trap.ptx");
  const auto trap = jitc::test::jitc(example.run("trap.ptx", "scale.json", {"--allow", "trap"}));
  CHECK(trap.status == 1);
  CHECK_THAT(trap.err, ContainsSubstring("the rule is allowed, but the launch cannot go on"));
}

TEST_CASE("a kernel that never ends or waits forever is stopped with a report") {
  const Example example;
  example.edit("scale.ptx", "@!%done bra wait;", "bra wait;", "endless.ptx");
  const auto endless = jitc::test::jitc(example.run("endless.ptx", "scale.json", {"--sim-limit", "10000"}));
  CHECK(endless.status == 1);
  CHECK_THAT(endless.err, ContainsSubstring("instruction-limit") && ContainsSubstring("at most 10000") &&
                              ContainsSubstring("--sim-limit"));
  const auto late = jitc::test::jitc(example.run("endless.ptx", "scale.json", {"--timeout", "0.2"}));
  CHECK(late.status == 1);
  CHECK_THAT(late.err, ContainsSubstring("time-limit") && ContainsSubstring("0 of 4 CTAs have ended") &&
                           ContainsSubstring("at PTX line"));
  CHECK(jitc::test::jitc(example.run("endless.ptx", "scale.json", {"--timeout", "-1"})).status == 2);
  example.edit("scale.ptx", "[%full], 1024;", "[%full], 1040;", "waits.ptx");
  const auto waits = jitc::test::jitc(example.run("waits.ptx", "scale.json"));
  CHECK(waits.status == 1);
  CHECK_THAT(waits.err, ContainsSubstring("report   mbarrier.expected-bytes") &&
                            ContainsSubstring("16 bytes missing") &&
                            ContainsSubstring("1024 came (PTX line"));
}

TEST_CASE("a kernel or launch that cannot be run gives a single error") {
  const Example example;
  CHECK_THAT(
      example.refusal("scale.ptx", "mul.f32 %v1", "mul.f32 %nowhere", 2),
      StartsWith("jitc: error: ") && ContainsSubstring("PTX line 46") && ContainsSubstring("%nowhere"));
  CHECK_THAT(example.refusal("scale.ptx", "mul.f32 %v1", ".frobnicate.f32 %v1", 2),
             ContainsSubstring("does not parse as PTX") && ContainsSubstring(":46:") &&
                 ContainsSubstring("frobnicate"));
  // These errors appear only when a thread reaches the instruction.
  const auto stop = [&](const std::string& instruction) {
    example.edit("scale.ptx", "mul.f32 %v1, %v1, %factor;", instruction, "stops.ptx");
    const auto result = jitc::test::jitc(example.run("stops.ptx", "scale.json"));
    CHECK(result.status == 3);
    CHECK_FALSE(std::filesystem::exists(example / "y.npy"));
    return result.err;
  };
  CHECK_THAT(stop("frobnicate.f32 %v1;"),
             ContainsSubstring("PTX line 46: the simulator does not run \"frobnicate.f32 %v1;\": unknown "
                               "instruction 'frobnicate'"));
  CHECK_THAT(stop("multimem.st.global.u32 [%row], %row;"),
             ContainsSubstring("PTX line 46: the simulator does not run \"multimem.st.global.u32 "));
  CHECK_THAT(
      example.refusal("scale.json", ",\n    {\"type\": \"f32\", \"value\": 0.5}", "", 2),
      ContainsSubstring("$.parameters: 2 parameters, but kernel \"scale\" takes 3; missing is number 2, "
                        "\".param .f32 factor\", 4 bytes"));
  CHECK_THAT(example.refusal("scale.json", "\"type\": \"f32\"", "\"type\": \"f64\"", 2),
             ContainsSubstring("$.parameters[2]: f64 has 8 bytes"));
  CHECK_THAT(example.refusal("scale.json", "[8, 32]", "[8, 33]", 2),
             ContainsSubstring("$.parameters[0].tensor_map, box[1]: "));
  CHECK_THAT(example.refusal("scale.json", "[8, 32]", "[32]", 2),
             ContainsSubstring("$.parameters[0].tensor_map.box: 1 dimension"));
  CHECK_THAT(example.refusal("scale.json", "\"grid\": 4", "\"gird\": 4", 2), ContainsSubstring("$.gird: "));
  CHECK_THAT(example.refusal("scale.json", R"({"dtype": "f32", "shape": [30, 32], "values": [1, 2, 3, 4]})",
                             R"({"in": "none.npy"})", 3),
             ContainsSubstring("none.npy"));
  CHECK_THAT(example.refusal("scale.json", "\"y.npy\"", "\"missing/y.npy\"", 3),
             ContainsSubstring("missing/y.npy"));
  CHECK_THAT(example.refusal("scale.json", "\"block\": 64", "\"block\": 64, \"source\": \"none.cu\"", 3),
             ContainsSubstring("none.cu"));
}

TEST_CASE("a launch's files must match the buffers' types and shapes; one buffer can be read and written") {
  const Example example;
  write_npy(example / "x.npy", "<f4", {30, 32}, bytes_of(counting(960)));
  auto expected = counting(960);
  for (auto& value : expected) value *= 0.5F;
  example.edit("scale.json", R"("x": {"dtype": "f32", "shape": [30, 32], "values": [1, 2, 3, 4]})",
               R"("x": {"in": "x.npy"})", "file.json");
  CHECK(jitc::test::jitc(example.run("scale.ptx", "file.json")).status == 0);
  CHECK(data_of(example / "y.npy") == bytes_of(expected));

  // One buffer that is read from one file and written to another.
  example.edit("file.json", R"("x": {"in": "x.npy"},)", "", "in_place.json");
  example.edit("in_place.json", R"({"dtype": "f32", "shape": [30, 32], "out": "y.npy"})",
               R"({"in": "x.npy", "out": "z.npy"})", "in_place.json");
  example.edit("in_place.json", R"("buffer": "x")", R"("buffer": "y")", "in_place.json");
  CHECK(jitc::test::jitc(example.run("scale.ptx", "in_place.json")).status == 0);
  CHECK(data_of(example / "z.npy") == bytes_of(expected));
  CHECK(data_of(example / "x.npy") == bytes_of(counting(960)));

  const auto refuse = [&](const std::string& buffer, const char* says) {
    example.edit("file.json", R"({"in": "x.npy"})", buffer, "wrong.json");
    const auto result = jitc::test::jitc(example.run("scale.ptx", "wrong.json"));
    INFO(result.err);
    CHECK(result.status == 2);
    CHECK_THAT(result.err, ContainsSubstring(says));
  };
  refuse(R"({"in": "x.npy", "shape": [32, 30]})",
         "$.buffers.x.shape: [32, 30], but x.npy has shape [30, 32]");
  refuse(R"({"in": "x.npy", "dtype": "f16"})", "astype('f2')");
  write_npy(example / "empty.npy", "<f4", {0, 32}, "");
  refuse(R"({"in": "empty.npy"})", "$.buffers.x.in: empty.npy is empty");
}

TEST_CASE("a PTX file needs a launch description, and options of operations are refused") {
  const Example example;
  const auto refuse = [&](const std::vector<std::string>& words, const char* says) {
    const auto result = jitc::test::jitc(words);
    INFO(result.err);
    CHECK(result.status == 2);
    CHECK_THAT(result.err, ContainsSubstring(says));
  };
  refuse({"run", "--ptx", example / "scale.ptx"}, "--launch");
  refuse({"run", "--launch", example / "scale.json"}, "--ptx");
  refuse({"run"}, "OPERATION is required");
  refuse({"run", "copy", "--ptx", example / "scale.ptx", "--launch", example / "scale.json"},
         "exclude each other");
  refuse(example.run("scale.ptx", "scale.json", {"--box", "8x8"}), "--box");
  refuse(example.run("scale.ptx", "scale.json", {"--out", "y.npy"}), "--out");
  refuse(example.run("scale.ptx", "scale.json", {"--repeat", "3"}), "--repeat");
  refuse(example.run("scale.ptx", "scale.json", {"--check"}), "--check");
  refuse(example.run("scale.ptx", "scale.json", {"--device", "gpu"}), "--device sim");
}
