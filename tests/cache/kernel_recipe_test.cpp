// A manifest holds everything that is needed to compile kernels again.
#include "seed.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/error.hpp>
#include <tmajit/kernel_recipe.hpp>

#include <iostream>
#include <random>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

const CompilerIdentity some_compiler{.major = 13, .minor = 0, .build = "b", .path = {}};

std::string random_text(std::mt19937_64& random) {
  std::string text;
  // Whole characters: "é" and "€" take several bytes.
  constexpr std::string_view characters[] = {"a", "\"", "\\", "\n", "{", "}", "é", "€", "\x01", "/", "//"};
  for (std::uint64_t n = random() % 60; n > 0; --n) text += characters[random() % std::size(characters)];
  return text;
}

KernelRecipe random_record(std::mt19937_64& random) {
  KernelRecipe record;
  if (random() % 2 == 0) {
    record.generator = generator_id();
    for (std::uint64_t n = 1 + random() % 40; n > 0; --n) record.plan_key += static_cast<char>(random());
  }
  record.source.text = random_text(random);
  record.source.entry = random_text(random);
  if (random() % 3 == 0) {
    SourceHeaders headers;
    for (std::uint64_t n = random() % 3; n > 0; --n)
      headers.emplace_back(random_text(random), random_text(random));
    record.source.headers = std::make_shared<const SourceHeaders>(std::move(headers));
  }
  record.options = {.arch = random() % 2 == 0 ? "sm_90a" : "compute_90a", .line_info = random() % 2 == 0};
  for (std::uint64_t n = random() % 3; n > 0; --n) record.options.extra.push_back(random_text(random));
  record.made_for = {random_text(random), random_text(random), random_text(random)};
  return record;
}

}  // namespace

TEST_CASE("random records are read from a manifest as they were written") {
  const std::uint64_t seed = tests::seed(20261128);
  std::cout << "TMAJIT_SEED=" << seed << '\n';
  std::mt19937_64 random(seed);
  std::vector<KernelRecipe> records;
  std::string text;
  for (int n = 0; n < 200; ++n) {
    records.push_back(random_record(random));
    const std::string line = records.back().line();
    CHECK(line.find('\n') == line.size() - 1);
    text += line;
  }
  const Manifest manifest = read_manifest(text);
  CHECK(manifest.damaged == 0);
  CHECK(manifest.of_other_versions == 0);
  REQUIRE(manifest.kernels.size() == records.size());
  for (std::size_t n = 0; n < records.size(); ++n) {
    INFO("TMAJIT_SEED=" << seed << ", record " << n);
    const KernelRecipe& found = manifest.kernels[n];
    CHECK(found.line() == records[n].line());
    CHECK(found.key(some_compiler) == records[n].key(some_compiler));
    CHECK(found.source.text == records[n].source.text);
    CHECK(static_cast<bool>(found.source.headers) == static_cast<bool>(records[n].source.headers));
    CHECK(found.made_for == records[n].made_for);
  }
}

TEST_CASE("torn lines and lines of other versions are counted, and the rest is read") {
  std::mt19937_64 random(7);
  KernelRecipe own = random_record(random);
  own.generator.clear();
  own.plan_key.clear();
  KernelRecipe old = own;
  old.generator = "another";
  old.plan_key = "key";
  const std::string line = own.line();
  std::string text = line + "\n" + old.line();
  for (const std::size_t length : {std::size_t{1}, line.size() / 2, line.size() - 2})
    text += line.substr(0, length) + "\n";
  text += "[1]\n{}\n" + line;
  const Manifest manifest = read_manifest(text);
  CHECK(manifest.kernels.size() == 2);
  CHECK(manifest.of_other_versions == 1);
  CHECK(manifest.damaged == 5);
}

TEST_CASE("a record whose members have other types is damaged") {
  std::mt19937_64 random(8);
  const std::string line = random_record(random).line();
  for (const std::string_view member : {"generator", "plan", "entry", "source", "arch", "line_info",
                                        "options", "operation", "types", "shape"}) {
    std::string text = line;
    const auto at = text.find('"' + std::string(member) + "\":");
    REQUIRE(at != std::string::npos);
    text.insert(at + member.size() + 3, R"({"a":1},"x":)");
    INFO(member);
    CHECK(read_manifest(text).damaged == 1);
  }
}

TEST_CASE("a source that is not UTF-8 cannot be recorded") {
  KernelRecipe record;
  record.source = {.text = "\xff", .entry = "scale", .expression = {}};
  CHECK_THROWS_MATCHES(
      record.line(), Error,
      MessageMatches(ContainsSubstring("scale cannot be recorded: its source must be UTF-8")));
}
