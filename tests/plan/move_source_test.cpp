/// The sources of kernels that move: they compile as they are, without warnings, and always are the same.
#include "plan/moves.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>

#include <algorithm>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

Source source_of(const MoveProblem& problem, const MoveKernel& kernel) {
  return move_source(kernel, problem.expression);
}

void check_compiles(const Source& source, const MoveKernel& kernel) {
  try {
    const Artifact artifact = compile(source);
    CHECK_THAT(artifact.log, !ContainsSubstring("warning"));
    CHECK(artifact.resources.spill_store_bytes == 0);
    CHECK(artifact.resources.static_shared_bytes == kernel.image_bytes());
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
    const MoveKernel kernel = move_candidates(problem).front().kernel;
    const Source source = source_of(problem, kernel);
    CHECK_THAT(source.text, !ContainsSubstring("#include"));
    CHECK_THAT(source.text, ContainsSubstring(source.entry + "("));
    CHECK(source.expression == move.expression);
    check_compiles(source, kernel);
  }
}

TEST_CASE("every candidate of a transpose of bytes compiles, those with the largest images too") {
  const MoveProblem problem = move_problem(tests::permutation(ElementType::u8, {1001, 1003}, {1, 0}));
  std::uint32_t largest = 0;
  for (const MoveCandidate& candidate : move_candidates(problem)) {
    INFO(candidate.kernel.choice());
    check_compiles(source_of(problem, candidate.kernel), candidate.kernel);
    largest = std::max(largest, candidate.kernel.image_bytes());
  }
  CHECK(largest > 96 * 1024);
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
