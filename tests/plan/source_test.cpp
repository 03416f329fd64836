/// The generated sources of kernels that move: they compile alone and without warnings.
#include "plan/moves.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <utility>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

using Sizes = std::vector<std::size_t>;

/// The bytes of each parameter that the kernel's PTX declares.
Sizes declared_parameters(const std::string& whole_ptx) {
  const std::size_t entry = whole_ptx.find(".entry");
  const std::string ptx = whole_ptx.substr(entry, whole_ptx.find('{', entry) - entry);
  Sizes sizes;
  const std::regex parameter(R"(\.param (?:\.align \d+ \.b8 \w+\[(\d+)\]|\.[ubsf](\d+) \w+))");
  for (std::sregex_iterator at(ptx.begin(), ptx.end(), parameter), end; at != end; ++at) {
    sizes.push_back((*at)[1].matched ? std::stoul((*at)[1]) : std::stoul((*at)[2]) / 8);
  }
  return sizes;
}

void check_compiles(const KernelPlan& plan) {
  INFO(plan.choice().text());
  try {
    const Artifact artifact = compile(source(plan));
    CHECK_THAT(artifact.log, !ContainsSubstring("warning"));
    CHECK(artifact.resources.spill_store_bytes == 0);
    CHECK(artifact.resources.static_shared_bytes >= plan.shape().static_shared_bytes);
    Sizes given;
    for (const Parameter& parameter : plan.parameters()) given.push_back(parameter.bytes);
    CHECK(given == declared_parameters(artifact.ptx));
    CHECK(artifact.resources.registers * plan.shape().threads <= 65'536);
  } catch (const Error& error) {
    FAIL_CHECK(error.what());
  }
}

/// Whether this process has loaded a library.
bool is_loaded(const std::string& library) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(library) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("source() loads neither NVRTC nor the driver") {
  const std::pair<bool, bool> before{is_loaded("libnvrtc"), is_loaded("libcuda.so")};
  // Candidates with equal keys have equal sources (key_test.cpp), which are written once.
  std::map<std::string, std::string, std::less<>> text_of_key;
  for (const auto& [name, move, traits] : tests::known_moves()) {
    INFO(name);
    for (const KernelPlan& candidate : plan_candidates(move)) {
      auto known = text_of_key.find(candidate.key());
      if (known == text_of_key.end()) {
        const Source written = source(candidate);
        CHECK(written.expression == candidate.expression());
        CHECK(written.entry == "tmajit_" + std::string(candidate.family().name));
        // The first lines name the kernel and the reason for its choice.
        CHECK_THAT(written.text.substr(0, 2000), ContainsSubstring(written.entry));
        CHECK(source(candidate).text == written.text);
        known = text_of_key.emplace(candidate.key(), written.text).first;
      }
      // The entry has the plan's parameters, in the same order.
      const std::string& text = known->second;
      std::size_t at = text.find("extern \"C\" __global__");
      REQUIRE(at != std::string::npos);
      for (const Parameter& parameter : candidate.parameters()) {
        INFO(parameter.type << ' ' << parameter.name);
        at = text.find(" " + parameter.name, at);
        REQUIRE(at != std::string::npos);
      }
    }
  }
  CHECK(std::pair(is_loaded("libnvrtc"), is_loaded("libcuda.so")) == before);
}

TEST_CASE("the kernel of every known move compiles alone, without warnings") {
  for (const auto& [name, move, traits] : tests::known_moves()) {
    INFO(name);
    const Problem problem = make_problem(move);
    const KernelPlan default_plan = make_kernel_plan(tests::default_candidate(problem), problem);
    const Source written = source(default_plan);
    CHECK_THAT(written.text, !ContainsSubstring("#include"));
    CHECK_THAT(written.text, ContainsSubstring(written.entry + "("));
    check_compiles(default_plan);
  }
}

TEST_CASE("every candidate of a transpose of bytes compiles, including those with the largest images") {
  std::uint32_t largest = 0;
  for (const KernelPlan& candidate :
       plan_candidates(tests::permutation(ElementType::u8, {1001, 1003}, {1, 0}))) {
    check_compiles(candidate);
    largest = std::max(largest, candidate.shape().static_shared_bytes);
  }
  CHECK(largest > 96 * 1024);
}

TEST_CASE("one candidate of each family compiles, for any rank") {
  const tests::Shape shapes[] = {
      {64, 96}, {8, 64, 96}, {3, 5, 64, 96}, {3, 5, 7, 64, 96}, {2, 3, 5, 7, 64, 96}};
  for (const tests::Shape& shape : shapes) {
    const auto rank = static_cast<std::uint32_t>(shape.size());
    std::vector<std::uint32_t> reversed(rank);
    std::vector<std::uint32_t> last_fixed(rank);
    for (std::uint32_t d = 0; d < rank; ++d) {
      reversed[d] = rank - 1 - d;
      last_fixed[d] = d + 1 < rank ? rank - 2 - d : d;
    }
    for (const auto& axes : {reversed, last_fixed}) {
      std::set<std::string_view> done;
      for (const KernelPlan& candidate : plan_candidates(tests::permutation(ElementType::u32, shape, axes))) {
        if (done.insert(candidate.family().name).second) check_compiles(candidate);
      }
    }
  }
}

TEST_CASE(
    "a kernel's source names the move that it was made for, and has the expression on a line of its own") {
  Move move{.destination = tests::dense(ElementType::f32, {512, 512}, tests::destination_address),
            .sources = {tests::dense(ElementType::f32, {512, 512})},
            .body = Map{"x * 2 +"}};
  const std::vector<KernelPlan> candidates = plan_candidates(move);
  CHECK(candidates.front().family().name == "general");
  for (const KernelPlan& candidate : candidates) {
    INFO(candidate.choice().text());
    const Source written = source(candidate);
    CHECK_THAT(written.text, ContainsSubstring("#line 1 \"expression\"\nx * 2 +\n"));
  }
  CHECK_THROWS_AS(compile(source(candidates.front())), CompileError);
}
