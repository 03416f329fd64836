#include "subprocess.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace jitc::test;
using Catch::Matchers::ContainsSubstring;

namespace {

using Words = std::vector<std::string>;

Words cubin_of(const std::string& rows) {
  return {"cubin", "copy", "--shape", rows, "--dtype", "u8", "-o", "/dev/null"};
}

}  // namespace

TEST_CASE("jitc warm records a run, makes a pack of it, and the next run compiles nothing") {
  const Folder folder;
  const std::string manifest = folder / "misses.jsonl";
  const Words here{"--cache-dir", folder / "first"};
  // Two operations of different kernels; the second run of the first finds its kernel in the cache.
  for (const auto& [shape, kernels] : {std::pair{"64x4096", "1 kernel"}, std::pair{"1001x77", "2 kernels"},
                                       std::pair{"64x4096", "2 kernels"}}) {
    const auto done =
        jitc::test::jitc(Words{"warm", "--record", manifest, "--", jitc_program()} + cubin_of(shape) + here);
    CHECK(done.status == 0);
    CHECK_THAT(done.err, ContainsSubstring("misses.jsonl now holds ") && ContainsSubstring(kernels));
  }

  const std::string second = folder / "second";
  const std::string pack = folder / "mine.pack";
  const auto replayed = jitc_json({"warm", "--replay", manifest, "--dir", second, "--pack", pack});
  CHECK(replayed.at("compiled") == 2);
  CHECK(replayed.at("kernels") == 2);
  CHECK(replayed.at("pack").at("kernels") == 2);
  CHECK(jitc_json({"warm", "--replay", manifest, "--dir", second}).at("compiled") == 0);
  CHECK_THAT(jitc::test::jitc({"warm", "--replay", manifest, "--dir", second}).out,
             ContainsSubstring("0 kernels compiled, 2 there before"));

  const auto listed = jitc_json({"pack", "ls", pack}).at("packs").at(0);
  REQUIRE(listed.at("entries").size() == 2);
  CHECK(listed.at("entries")[0].at("operation") == "copy");
  CHECK(listed.at("entries")[0].at("code") == "cubin");
  CHECK(listed.at("of_this_version") == true);
  CHECK_THAT(jitc::test::jitc({"pack", "ls", pack}).out, ContainsSubstring("compiled by NVRTC") &&
                                                             ContainsSubstring("  copy ") &&
                                                             ContainsSubstring(" KiB"));

  Surroundings packed;
  packed.environment = {"TMAJIT_PACKS=" + pack};
  const auto from_pack =
      jitc::test::jitc(cubin_of("64x4096") + Words{"--cache-dir", folder / "third", "--json"}, packed);
  REQUIRE(from_pack.status == 0);
  CHECK(nlohmann::json::parse(from_pack.out).at("cache") == "pack");

  // The simulated device needs PTX.
  const std::string ptx = folder / "ptx.pack";
  CHECK(jitc_json({"warm", "--replay", manifest, "--dir", second, "--pack", ptx, "--ptx"}).at("compiled") ==
        0);
  CHECK(jitc_json({"pack", "ls", ptx}).at("packs").at(0).at("entries").at(0).at("code") == "cubin, PTX");
  const Words simulation{"run", "copy",     "--shape", "64x4096",     "--dtype",
                         "u8",  "--device", "sim",     "--cache-dir", folder / "fourth"};
  Surroundings no_compiler;
  no_compiler.environment = {"TMAJIT_NVRTC=/none", "TMAJIT_PACKS=" + ptx};
  CHECK(jitc::test::jitc(simulation, no_compiler).status == 0);
  no_compiler.environment.back() = "TMAJIT_PACKS=" + pack;
  CHECK(jitc::test::jitc(simulation, no_compiler).status == 3);

  // From the cache folder the same pack is built.
  const std::string built = folder / "built.pack";
  CHECK(jitc_json({"pack", "build", built, "--dir", second}).at("kernels") == 2);
  const auto same = jitc_json({"pack", "diff", pack, built});
  CHECK(same.at("same") == 2);
  CHECK(jitc::test::jitc({"pack", "diff", pack, built}).status == 0);
  CHECK(jitc_json({"pack", "build", folder / "again.pack", "--manifest", manifest, "--dir", second})
            .at("kernels") == 2);
}

TEST_CASE("jitc pack verify finds a damaged kernel, and diff names the kernels that differ") {
  const Folder folder;
  const Words here{"--cache-dir", folder / "cache"};
  const std::string one = folder / "one.pack";
  const std::string two = folder / "two.pack";
  REQUIRE(jitc::test::jitc(cubin_of("64x4096") + here).status == 0);
  REQUIRE(jitc::test::jitc({"pack", "build", one, "--dir", folder / "cache"}).status == 0);
  REQUIRE(jitc::test::jitc(cubin_of("1001x77") + here).status == 0);
  REQUIRE(jitc::test::jitc({"pack", "build", two, "--dir", folder / "cache"}).status == 0);

  const auto differ = jitc::test::jitc({"pack", "diff", one, two});
  CHECK(differ.status == 1);
  CHECK_THAT(differ.out,
             ContainsSubstring("1 the same, 0 only in ") && ContainsSubstring("1 only in " + two));

  CHECK(jitc::test::jitc({"pack", "verify", one, two}).status == 0);
  std::string bytes = read_file(two);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_file(two, bytes);
  const auto damaged = jitc::test::jitc({"pack", "verify", one, two});
  CHECK(damaged.status == 1);
  CHECK_THAT(damaged.out, ContainsSubstring("one.pack: every kernel is intact") &&
                              ContainsSubstring("two.pack is damaged: the checksum is wrong of kernel"));
  CHECK(jitc::test::jitc({"pack", "ls", folder / "none.pack"}).status == 3);
}

TEST_CASE(
    "jitc warm needs a command to record or a manifest to replay, and passes the command's exit code on") {
  const Folder folder;
  const std::string manifest = folder / "m.jsonl";
  CHECK(jitc::test::jitc({"warm", "--record", manifest, "--", "sh", "-c", "exit 7"}).status == 7);
  CHECK(jitc::test::jitc({"warm", "--record", manifest, "--", "no-such-command"}).status == 3);
  CHECK(jitc::test::jitc({"warm"}).status == 2);
  CHECK(jitc::test::jitc({"warm", "--record", manifest}).status == 2);
  CHECK(jitc::test::jitc({"warm", "--replay", manifest, "--record", manifest, "--", "true"}).status == 2);
  CHECK(jitc::test::jitc({"warm", "--replay", manifest}).status == 3);
  write_file(manifest, "{\"half\n\n");
  const auto skipped = jitc::test::jitc({"warm", "--replay", manifest, "--dir", folder / "cache"});
  CHECK(skipped.status == 0);
  CHECK_THAT(skipped.err, ContainsSubstring("1 line that hold no kernel"));
}
