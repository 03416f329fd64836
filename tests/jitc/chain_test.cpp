/// Chains of operations by --then.
#include "chain_arrays.hpp"
#include "subprocess.hpp"

#include <tmajit/move.hpp>
#include <tmajit/sim.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace jitc_chain_test {

using Words = std::vector<std::string>;

/// A chain of two to four random operations on a matrix, as words of a command.
Words random_chain(std::mt19937_64& random) {
  constexpr std::array texts{"map --expr 'x * 0.125f'",
                             "map --expr 'x0 * x1 + 1' --inputs 2",
                             "map --expr \"x * p0\" --number 3",
                             "cast --out-dtype bf16",
                             "cast --out-dtype f32",
                             "permute --axes 1,0",
                             "flip --flip 0",
                             "slice --slice ::2",
                             "pad --pad 1,0:0,2",
                             "copy --axes 1,0 --pad 1,1:1,1",
                             "softmax",
                             "rms_norm --axis 0",
                             "max_with_index",
                             "reduce --op sum --axes 1 --keep-dims yes",
                             "reduce --op max --axes 0 --keep-dims yes",
                             "map --expr 'expf(x * 0.1f) + 1'",
                             "reduce --op mean --axes 0 --keep-dims yes",
                             "scan --op sum --axis 1",
                             "gather --index-shape 5",
                             "concat --axis 0 --inputs 2"};
  const auto any = [&] { return std::string(texts.at(random() % texts.size())); };
  const std::string type = random() % 2 == 0 ? "f32" : "bf16";
  const std::string shape = std::to_string(2 + random() % 20) + "x" + std::to_string(2 + random() % 60);
  Words words{random() % 2 == 0 ? "softmax" : "copy", "--shape", shape, "--type", type, "--check"};
  bool rounds = false;
  for (std::uint64_t k = 1 + random() % 3; k > 0; --k) {
    std::string text = any();
    // Rounding decides between indices of almost equal elements.
    while (text == "max_with_index" && rounds) text = any();
    rounds = rounds || text.find("+ 1") != std::string::npos;
    words.insert(words.end(), {"--then", text});
    // Its result has one dimension, and some of these operations need two.
    if (text == "max_with_index") break;
  }
  return words;
}

}  // namespace jitc_chain_test

using namespace jitc_chain_test;

TEST_CASE("random chains: the fused kernels give the results of the CPU's single operations") {
  const std::uint64_t start = seed();
  INFO("TMAJIT_SEED=" << start);
  std::mt19937_64 random(start);
  const std::uint64_t cases = tests::from_environment("TMAJIT_CASES", 12);
  for (std::uint64_t n = 0; n < cases; ++n) {
    const Words words = random_chain(random);
    std::string text;
    for (const std::string& word : words) text += " '" + word + "'";
    INFO("case " << n << ":" << text);
    const auto result = jitc::test::jitc(simulated(words));
    INFO(result.err);
    REQUIRE(result.status == 0);
    CHECK_THAT(result.err, ContainsSubstring("then     "));
    CHECK_THAT(result.err, ContainsSubstring(" right\n"));
  }
}

TEST_CASE("the report of a chain has its operations, sentences and kernels, and writes the last output") {
  const Folder folder;
  write_npy(folder / "a.npy", "<f4", {2, 3}, bytes_of(counting(6)));
  const auto json =
      jitc_json(simulated({"map", "--expr", "x * 2", "--in", folder / "a.npy", "--then", "permute --axes 1,0",
                           "--then", "map --expr 'x + 1'", "--out", folder / "y.npy", "--check"}));
  CHECK(data_of(folder / "y.npy") == bytes_of(std::vector<float>{1, 7, 3, 9, 5, 11}));
  CHECK(json.at("operation") == "map");
  REQUIRE(json.at("then").size() == 2);
  CHECK(json.at("then").at(0).at("operation") == "permute");
  CHECK(json.at("then").at(0).at("arguments") == "--axes 1,0");
  CHECK(json.at("then").at(0).at("tensors").at(0).at("name") == "result of map");
  CHECK(json.at("sentences").size() == 2);
  CHECK(json.at("plan").at("steps").size() == 1);
  CHECK(json.at("run").at("bytes") == 2 * 6 * 4);
  REQUIRE(json.at("check").size() == 1);
  CHECK(json.at("check").at(0).at("name") == "output");
  CHECK(json.at("check").at(0).at("wrong") == 0);

  const auto plan = jitc_json(
      {"explain", "map", "--expr", "x * 2", "--shape", "64x64", "--then", "top_k --k 3", "--device", "h200"});
  REQUIRE(plan.at("sentences").size() == 1);
  CHECK_THAT(plan.at("sentences").at(0).get<std::string>(), ContainsSubstring("is not fused"));
  CHECK(plan.at("plans").size() == 2);
  CHECK(plan.at("plans").at(1).at("steps").size() == 1);
  // A reduction of rows' results along the rows is a step of them.
  const auto rows = jitc_json(
      {"explain", "softmax", "--shape", "64x64", "--then", "reduce --op max --axes 1", "--device", "h200"});
  REQUIRE(rows.at("sentences").size() == 1);
  CHECK_THAT(rows.at("sentences").at(0).get<std::string>(), ContainsSubstring("as steps of rows"));
  CHECK(rows.at("plans").size() == 1);
}

TEST_CASE("booleans stay booleans along a chain that moves bits") {
  const Folder folder;
  write_npy(folder / "a.npy", "|b1", {2, 2}, std::string("\1\0\1\1", 4));
  CHECK(jitc_json(simulated({"permute", "--axes", "1,0", "--in", folder / "a.npy", "--then", "flip --flip 0",
                             "--out", folder / "y.npy"}))
            .at("outputs")
            .size() == 1);
  CHECK(data_of(folder / "y.npy") == std::string("\0\1\1\1", 4));
  CHECK_THAT(read_file(folder / "y.npy"), ContainsSubstring("|b1"));
}

TEST_CASE("errors of --then name its number and its text") {
  struct Case {
    Words then;
    const char* says;
  };
  const auto one = GENERATE(values<Case>({
      {{"sofmax"}, "--then 1, 'sofmax': there is no operation or family \"sofmax\""},
      {{"softmax", "permute --axs 1,0"},
       "--then 2, 'permute --axs 1,0': --then has no option --axs; did you "
       "mean --axes?"},
      {{"permute --axes"}, "--then 1, 'permute --axes': --axes needs a value"},
      {{"permute --axes="}, "--axes= has no value behind it"},
      {{"permute --axes 1,2"}, "there is no dimension 2"},
      {{"map --expr 'x + 1"}, "a quote, ', does not end"},
      {{"map"}, "--then 1, 'map': map needs --expr"},
      {{"--axis 1"}, "--then 1, '--axis 1': OPERATION is required"},
      {{"copy extra"}, "--then takes no \"extra\" here"},
      {{"copy --in a.npy"}, "--in is for the operation before the first --then"},
      {{"copy --shape 4x4"}, "--shape is for the operation before the first --then"},
      {{"bulk --expr x"}, "bulk: a chain takes operations, no families"},
      {{"map --expr x --type u8"}, "map would read u8 of shape 8x6, but the result of softmax is f32 8x6"},
      {{"concat --axis 0 --parts 3,4"}, "concat would read f32 of shape 3x6"},
      {{"map --expr 'g[0]' --inputs 0"}, "leave --inputs 0 out"},
  }));
  Words words{"softmax", "--shape", "8x6"};
  for (const std::string& text : one.then) words.insert(words.end(), {"--then", text});
  CHECK_THAT(refusal(simulated(words)), StartsWith("jitc: error: --then ") && ContainsSubstring(one.says));
}

TEST_CASE("a chain takes operations, and --check only what the CPU can judge") {
  CHECK_THAT(refusal(simulated({"rows", "--shape", "8x6", "--then", "softmax"})),
             ContainsSubstring("rows: a chain takes operations, no families of kernels"));
  CHECK_THAT(refusal(simulated({"map", "--expr", "expf(x)", "--shape", "8x6", "--then",
                                "reduce --op arg_max --axes 1", "--check"})),
             ContainsSubstring("--check cannot compare the fused chain: a reduction to indices"));
  CHECK_THAT(refusal({"run", "--ptx", "k.ptx", "--launch", "l.json", "--then", "softmax"}),
             ContainsSubstring("--then is an option of OPERATION"));
  CHECK_THAT(refusal({"run", "k.cu", "--launch", "l.json", "--then", "softmax"}),
             ContainsSubstring("--then is an option of operations"));
}

TEST_CASE(
    "the check of a chain finds wrong elements, and writes to an intermediate result that no kernel writes") {
  const auto chain_of = [](const std::string& expression) {
    jitc::ProblemOptions options{.word = "map", .shape = "8x6"};
    options.arguments["--expr"] = expression;
    return jitc::make_chain(options, {"softmax", "permute --axes 1,0"}, jitc::Purpose::run);
  };
  const jitc::Chain chain = chain_of("x * 2");
  const std::shared_ptr<tmajit::Device> device = tmajit::make_sim_device();
  const tmajit::Runtime runtime({.device = device, .cache_directory = std::nullopt});
  const jitc::ChainArrays arrays(device, chain, 1);
  const auto run = [&](const tmajit::Fusion& fusion) {
    arrays.reset_outputs();
    tmajit::plan(runtime, fusion)();
    device->streams().synchronize(nullptr);
  };
  const tmajit::Fusion right = chain.fusion(arrays.addresses());
  REQUIRE(right.operations.size() == 1);
  run(right);
  auto compared = arrays.compare_outputs(right.operations);
  REQUIRE(compared.size() == 1);
  CHECK(compared.front().difference.none());

  run(chain_of("x * 2.5f").fusion(arrays.addresses()));
  compared = arrays.compare_outputs(right.operations);
  REQUIRE(compared.size() == 1);
  CHECK(compared.front().difference.wrong > 40);

  run(right);
  const std::byte changed{1};
  device->memory().copy_in(arrays.addresses()[1].outputs[0], {&changed, 1}, nullptr);
  compared = arrays.compare_outputs(right.operations);
  REQUIRE(compared.size() == 2);
  CHECK(compared.front().array->name == "output of operation 1 (softmax)");
  CHECK(compared.front().difference.wrong == 1);
  CHECK(compared.back().difference.none());
}
