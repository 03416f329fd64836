/// Shows which kernels' sources a change affects: data/source_hashes.txt holds a hash of each of many
/// sources. To accept the current sources, run this program with TMAJIT_UPDATE_SOURCE_HASHES=1.
#include "codegen/plans.hpp"

#include <tmajit/codegen.hpp>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

using Hashes = std::map<std::string, std::string>;  // by the kernel's name

/// A source without the lines that depend on the version or on line numbers.
std::string without_volatile_lines(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#line ") || line.starts_with("// Begin reading at line ") ||
        line.starts_with("// Made by tmajit ")) {
      continue;
    }
    out += line + "\n";
  }
  return out;
}

/// FNV-1a of 64 bits.
std::string hash(std::string_view text) {
  std::uint64_t value = 0xcbf29ce484222325;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  constexpr const char* digits = "0123456789abcdef";
  std::string out;
  for (int shift = 60; shift >= 0; shift -= 4) out += digits[value >> shift & 15];
  return out;
}

Hashes hashes_now() {
  Hashes hashes;
  for (const tests::NamedPlan& named : tests::broad_plans()) {
    const bool is_new =
        hashes.emplace(named.name, hash(without_volatile_lines(source(named.plan).text))).second;
    CAPTURE(named.name);
    CHECK(is_new);
  }
  return hashes;
}

Hashes read_hashes() {
  std::ifstream in(TMAJIT_SOURCE_HASHES);
  Hashes hashes;
  for (std::string line; std::getline(in, line);) {
    const std::size_t end = line.rfind("  ");
    if (end != std::string::npos) hashes[line.substr(0, end)] = line.substr(end + 2);
  }
  return hashes;
}

void write(const Hashes& hashes) {
  std::ofstream out(TMAJIT_SOURCE_HASHES);
  for (const auto& [name, value] : hashes) out << name << "  " << value << '\n';
  REQUIRE(out.good());
}

/// A line for each difference: "+ new", "- gone", "! changed".
std::string differences(const Hashes& before, const Hashes& now) {
  std::string text;
  for (const auto& [name, value] : before) {
    const auto found = now.find(name);
    if (found == now.end()) text += "- " + name + "\n";
    if (found != now.end() && found->second != value) text += "! " + name + "\n";
  }
  for (const auto& [name, value] : now) {
    if (!before.contains(name)) text += "+ " + name + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("one_of_each_family() has a plan of every family") {
  std::set<std::string_view> names;
  for (const tests::NamedPlan& named : tests::one_of_each_family()) names.insert(named.plan.family().name);
  for (const FamilyInfo& family : families()) {
    CAPTURE(family.name);
    CHECK(names.contains(family.name));
  }
}

TEST_CASE("equal keys give equal sources") {
  std::map<std::string, std::string> source_of_key;
  for (const tests::NamedPlan& named : tests::broad_plans()) {
    INFO(named.name);
    const std::string text = source(named.plan).text;
    const bool equal = source_of_key.emplace(named.plan.key(), text).first->second == text;
    CHECK(equal);
  }
}

TEST_CASE("sources are those that data/source_hashes.txt holds hashes of") {
  const Hashes now = hashes_now();
  if (const char* update = std::getenv("TMAJIT_UPDATE_SOURCE_HASHES"); update != nullptr && *update == '1') {
    write(now);
    SUCCEED("written: " TMAJIT_SOURCE_HASHES);
    return;
  }
  const std::string changed = differences(read_hashes(), now);
  INFO("changed (!), new (+) and gone (-) since " TMAJIT_SOURCE_HASHES
       " was written; if that is meant, write it again:\n  TMAJIT_UPDATE_SOURCE_HASHES=1 test_codegen "
       "'sources are "
       "those*'\n"
       << changed);
  CHECK(changed.empty());
}
