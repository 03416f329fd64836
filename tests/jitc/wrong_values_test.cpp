/// Illegal values of options, and inputs that the operation cannot take.
#include "arrays.hpp"
#include "subprocess.hpp"

#include <cstdint>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("an empty value is refused by every option that takes one") {
  const auto words = GENERATE(values<std::vector<std::string>>({
      {"source", "copy", "--dtype"},
      {"source", "copy", "--shape"},
      {"source", "copy", "--strides"},
      {"source", "copy", "--in"},
      {"source", "cast", "--out-dtype"},
      {"source", "map", "--expr"},
      {"source", "copy", "--slice"},
      {"source", "copy", "--axes"},
      {"source", "copy", "--pad"},
      {"source", "copy", "--box"},
      {"source", "copy", "--swizzle"},
      {"source", "copy", "--l2"},
      {"source", "copy", "-o"},
      {"source", "copy", "--cache-dir"},
      {"source", "copy", "--arch"},
      {"source", "copy", "--log-level"},
      {"source", "copy", "--offset"},
      {"source", "copy", "--stages"},
      {"source", "copy", "--step"},
      {"source", "pad", "--pad", "1,1", "--pad-value"},
      {"run", "copy", "--shape", "4", "--out"},
      {"run", "copy", "--shape", "4", "--device"},
      {"run", "--launch", "launch.json", "--ptx"},
      {"tune", "--export"},
      {"tune", "--import"},
      {"layout", "--box", "8x32", "-o"},
      {"layout", "--box", "8x32", "--pattern"},
      {"cache", "ls", "--dir"},
      {"doctor", "--cache-dir"},
      {"lint", "kernel.ptx", "--map"},
  }));
  CAPTURE(words);
  CHECK_THAT(refusal(words + std::vector<std::string>{""}), ContainsSubstring(words.back().substr(1)));
  if (!words.back().starts_with("--")) return;
  // The next word is not taken as the value of `--option=`.
  auto joined = words;
  joined.back() += "=";
  CHECK_THAT(refusal(joined + std::vector<std::string>{"copy"}),
             ContainsSubstring(words.back() + "= has no value"));
}

TEST_CASE("an illegal number is refused with the legal range") {
  struct Wrong {
    std::vector<std::string> words;
    const char* says;
  };
  const auto wrong = GENERATE(values<Wrong>({
      {{"source", "copy", "--offset", "-1"},
       "--offset: \"-1\" is no whole number from 0 to 18446744073709551615"},
      {{"source", "copy", "--out-offset", "-1"}, "--out-offset: \"-1\" is no whole number from 0"},
      {{"source", "copy", "--offset", "18446744073709551616"},
       "is no whole number from 0 to 18446744073709551615"},
      {{"source", "map", "--expr", "x", "--inputs", "-1"}, "--inputs: \"-1\" is no whole number from 0"},
      {{"source", "copy", "--stages", "-1"}, "--stages: \"-1\" is no whole number from 0 to 4294967295"},
      {{"source", "copy", "--stages", "4294967296"}, "is no whole number from 0 to 4294967295"},
      {{"source", "copy", "--step", "-1"}, "--step: \"-1\" is no whole number from 1"},
      {{"source", "copy", "--step", "0"}, "--step: \"0\" is no whole number from 1"},
      {{"run", "copy", "--shape", "4", "--seed", "-1"}, "--seed: \"-1\" is no whole number from 0"},
      {{"run", "copy", "--shape", "4", "--repeat", "0"},
       "--repeat: \"0\" is no whole number from 1 to 1000000"},
      {{"run", "copy", "--shape", "4", "--sim-seed", "-1"}, "--sim-seed: \"-1\" is no whole number from 0"},
      {{"run", "copy", "--shape", "4", "--sim-limit", "-1"}, "--sim-limit: \"-1\" is no whole number from 1"},
      {{"run", "copy", "--shape", "4", "--sim-threads", "0"},
       "--sim-threads: \"0\" is no whole number from 1 to 1024"},
      {{"tune", "copy", "--repeat", "-1"}, "--repeat: \"-1\" is no whole number from 1 to 100000"},
      {{"layout", "--box", "8x32", "--lines", "-1"}, "--lines: \"-1\" is no whole number from 0"},
      {{"layout", "--box", "8x32", "--access", "-1"}, "--access: \"-1\" is no whole number from 0"},
      {{"source", "copy", "--shape", "-1"}, "--shape -1"},
      {{"source", "copy", "--box", "-1"}, "--box -1"},
  }));
  CAPTURE(wrong.words);
  CHECK_THAT(refusal(wrong.words), ContainsSubstring(wrong.says));
}

TEST_CASE("numbers may be hexadecimal") {
  CHECK(jitc_json(simulated({"copy", "--shape", "4", "--sim-seed", "0x10"}))
            .at("run")
            .at("simulation")
            .at("seed") == 16);
}

TEST_CASE("option --inputs 0 is only for maps that read no input") {
  CHECK_THAT(refusal({"source", "copy", "--inputs", "0"}),
             ContainsSubstring("copy needs an input, but 0 are given"));
  CHECK_THAT(refusal({"source", "concat", "--axis", "0", "--inputs", "0"}),
             ContainsSubstring("concat needs an input"));
  CHECK_THAT(refusal({"source", "bulk", "--expr", "1", "--inputs", "0"}),
             ContainsSubstring("bulk needs an input"));
  CHECK_THAT(refusal({"source", "snapshot", "--inputs", "0"}), ContainsSubstring("snapshot needs an input"));
  CHECK_THAT(refusal({"source", "map", "--expr", "x0+x1", "--inputs", "0"}),
             ContainsSubstring("--inputs 0, but --expr reads x1: legal is 2 or more"));
  CHECK(jitc::test::jitc({"source", "map", "--expr", "g[0]", "--inputs", "0", "--shape", "64"}).status == 0);
  CHECK_THAT(refusal({"source", "map", "--expr", "g[0]", "--shape", "64", "--flip", "0"}),
             ContainsSubstring("--flip changes the view of inputs, but this map has no input"));
}

TEST_CASE("elements of a file that share an address must be equal") {
  const Folder folder;
  const auto in = folder / "a.npy";
  const auto out = folder / "y.npy";
  write_npy(in, "<f4", {2, 2}, bytes_of(counting(4)));
  CHECK_THAT(
      refusal(simulated({"copy", "--strides", "1,1", "--in", in, "--out", out, "--check"})),
      ContainsSubstring("a.npy: with --strides 1,1 several elements have one address, and element [0, 1] "
                        "differs from another element there"));
  CHECK_THAT(refusal(simulated({"copy", "--strides", "0,1", "--in", in, "--out", out})),
             ContainsSubstring("element [0, 0] differs"));
  CHECK_THAT(refusal(simulated({"copy", "--strides", "-1,1", "--in", in})),
             ContainsSubstring("have one address"));
  CHECK(folder.names() == std::vector<std::string>{"a.npy"});

  // Equal elements may share an address: a file that holds a broadcast in full, or the windows of a row.
  const std::vector<float> repeated{5, 6, 5, 6};
  write_npy(in, "<f4", {2, 2}, bytes_of(repeated));
  static_cast<void>(jitc_json(simulated({"copy", "--strides", "0,1", "--in", in, "--out", out, "--check"})));
  CHECK(data_of(out) == bytes_of(repeated));
  const std::vector<float> windows{1, 2, 2, 3};
  write_npy(in, "<f4", {2, 2}, bytes_of(windows));
  static_cast<void>(jitc_json(simulated({"copy", "--strides", "1,1", "--in", in, "--out", out, "--check"})));
  CHECK(data_of(out) == bytes_of(windows));
  // So may equal elements of a file in the other byte order.
  write_npy(in, ">i2", {2, 2}, std::string("\0\1\0\2\0\1\0\2", 8));
  static_cast<void>(jitc_json(simulated({"copy", "--strides", "0,1", "--in", in, "--out", out, "--check"})));
  CHECK(data_of(out) == std::string("\1\0\2\0\1\0\2\0", 8));
  CHECK_THAT(refusal(simulated({"copy", "--strides", "1,0", "--in", in})),
             ContainsSubstring("element [0, 0]"));
  // Strides in any order are legal if every element has its own address.
  write_npy(in, "<f4", {2, 2}, bytes_of(counting(4)));
  static_cast<void>(jitc_json(simulated({"copy", "--strides", "-1,2", "--in", in, "--out", out, "--check"})));
  CHECK(data_of(out) == bytes_of(counting(4)));
  // Random elements are generated in memory, so elements at one address are equal.
  static_cast<void>(jitc_json(simulated({"copy", "--strides", "0,1", "--shape", "3x4", "--check"})));
}

TEST_CASE("operations that move bits refuse inputs of different types") {
  const Folder folder;
  write_npy(folder / "f.npy", "<f4", {2}, bytes_of(counting(2)));
  write_npy(folder / "i.npy", "<i4", {2}, bytes_of(std::vector<std::int32_t>{1, 2}));
  CHECK_THAT(
      refusal(simulated({"concat", "--axis", "0", "--in", folder / "f.npy", "--in", folder / "i.npy"})),
      ContainsSubstring("concat moves bits, but inputs have the types f32 and i32; cast converts values"));
  CHECK_THAT(refusal(simulated({"concat", "--axis", "0", "--shape", "4", "--dtype", "f32,f32,u32"})),
             ContainsSubstring("inputs have the types f32 and u32"));
  for (const auto* word : {"pad", "copy"}) {
    CHECK_THAT(refusal(simulated(
                   {word, "--pad", "1", "--pad-value", "1", "--in", folder / "f.npy", "--out-dtype", "i32"})),
               ContainsSubstring("--pad adds elements of the output's type, i32, to bits of f32"));
  }
  // Reinterpreting all bits as another type is legal.
  static_cast<void>(jitc_json(
      simulated({"copy", "--in", folder / "f.npy", "--out-dtype", "i32", "--out", folder / "y.npy"})));
  CHECK(jitc::InputArray(folder / "y.npy").header().descr == "<i4");
  CHECK(data_of(folder / "y.npy") == bytes_of(counting(2)));
}
