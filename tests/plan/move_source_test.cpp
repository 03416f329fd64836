/// The sources of kernels that move: they compile as they are, without warnings, and always are the same.
#include "plan/moves.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>

#include <algorithm>
#include <regex>
#include <set>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

Source source_of(const MoveProblem& problem, const MoveKernel& kernel) {
  return move_source(kernel, problem.expression);
}

/// Bytes of each parameter, as the PTX declares them.
std::vector<std::size_t> declared_parameters(const std::string& ptx) {
  std::vector<std::size_t> sizes;
  const std::regex parameter(R"(\.param \.align \d+ \.b8 \w+\[(\d+)\])");
  for (std::sregex_iterator at(ptx.begin(), ptx.end(), parameter), end; at != end; ++at) {
    sizes.push_back(std::stoul((*at)[1]));
  }
  return sizes;
}

void check_parameters(const Artifact& artifact, const MoveCandidate& candidate, const MoveProblem& problem) {
  std::vector<std::size_t> given(move_maps(candidate.kernel, problem).size(), sizeof(EncodedTensorMap));
  for (const auto& bytes : move_parameters(candidate.kernel, candidate.nest, problem)) {
    given.push_back(bytes.size());
  }
  CHECK(given == declared_parameters(artifact.ptx));
}

void check_compiles(const Source& source, const MoveCandidate& candidate, const MoveProblem& problem) {
  const MoveKernel& kernel = candidate.kernel;
  try {
    const Artifact artifact = compile(source);
    CHECK_THAT(artifact.log, !ContainsSubstring("warning"));
    CHECK(artifact.resources.spill_store_bytes == 0);
    CHECK(artifact.resources.static_shared_bytes >= kernel.image_bytes());
    check_parameters(artifact, candidate, problem);
    CHECK(artifact.resources.registers * kernel.threads <= 65'536);
  } catch (const Error& error) {
    FAIL_CHECK(error.what());
  }
}

}  // namespace

TEST_CASE("the kernel of every known move compiles as it is, without warnings") {
  for (const auto& [name, move, traits] : tests::known_moves()) {
    INFO(name);
    const MoveProblem problem = move_problem(move);
    const MoveCandidate candidate = move_candidates(problem).front();
    const Source source = source_of(problem, candidate.kernel);
    CHECK_THAT(source.text, !ContainsSubstring("#include"));
    CHECK_THAT(source.text, ContainsSubstring(source.entry + "("));
    CHECK(source.expression == move.expression);
    check_compiles(source, candidate, problem);
  }
}

TEST_CASE("every candidate of a transpose of bytes compiles, those with the largest images too") {
  const MoveProblem problem = move_problem(tests::permutation(ElementType::u8, {1001, 1003}, {1, 0}));
  std::uint32_t largest = 0;
  for (const MoveCandidate& candidate : move_candidates(problem)) {
    INFO(candidate.kernel.choice());
    check_compiles(source_of(problem, candidate.kernel), candidate, problem);
    largest = std::max(largest, candidate.kernel.image_bytes());
  }
  CHECK(largest > 96 * 1024);
}

TEST_CASE("one candidate of each method compiles, for any rank") {
  const tests::Shape shapes[] = {
      {64, 96}, {8, 64, 96}, {3, 5, 64, 96}, {3, 5, 7, 64, 96}, {2, 3, 5, 7, 64, 96}};
  for (const tests::Shape& shape : shapes) {
    const auto rank = static_cast<std::uint32_t>(shape.size());
    std::vector<std::uint32_t> reversed(rank);
    std::vector<std::uint32_t> kept(rank);
    for (std::uint32_t d = 0; d < rank; ++d) {
      reversed[d] = rank - 1 - d;
      kept[d] = d + 1 < rank ? rank - 2 - d : d;
    }
    for (const auto& axes : {reversed, kept}) {
      const MoveProblem problem = move_problem(tests::permutation(ElementType::u32, shape, axes));
      std::set<MoveMethod> done;
      for (const MoveCandidate& candidate : move_candidates(problem)) {
        if (!done.insert(candidate.kernel.method).second) continue;
        INFO(candidate.kernel.choice());
        check_compiles(source_of(problem, candidate.kernel), candidate, problem);
      }
    }
  }
}

TEST_CASE(
    "the source of a kernel names what it was made for, and its expression stands on a line of its own") {
  Move move{.destination = tests::dense(ElementType::f32, {512, 512}, tests::to_address),
            .sources = {tests::dense(ElementType::f32, {512, 512})},
            .expression = "x * 2 +"};
  const MoveProblem problem = move_problem(move);
  const MoveKernel kernel = move_candidates(problem).front().kernel;
  const Source source = source_of(problem, kernel);
  CHECK(source.entry == "tmajit_general");
  CHECK_THAT(source.text, ContainsSubstring("#line 1 \"expression\"\nx * 2 +\n"));
  try {
    (void)compile(source);
    FAIL_CHECK("an expression that ends in an operator compiled");
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::compile_failed);
  }
}
