/// The sources of kernels that move: they compile as they are, without warnings, and always are the same.
#include "plan/moves.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>

#include <set>

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
