#include "codegen/plans.hpp"
#include "ptx/query.hpp"
#include "ptx/texts.hpp"
#include "ptx_alone.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

using namespace tmajit;

TEST_CASE("the PTX of every family's kernel is unchanged by parsing and printing") {
  const tests::NamedPlan named = GENERATE(from_range(tests::one_of_each_family()));
  const std::vector<std::string> debug =
      GENERATE(values<std::vector<std::string>>({std::vector<std::string>{}, {"-G"}}));
  CAPTURE(named.name, debug);
  CompileOptions options = tests::ptx_alone;
  options.extra = debug;
  options.line_info = debug.empty();
  const Artifact artifact = compile(source(named.plan), options);
  const ptx::Module module = tests::parse(artifact.ptx);
  const std::string printed = ptx::print(module);
  CHECK((tests::parse(printed) == module));
  const ptx::Function* kernel = module.find(artifact.entry);
  REQUIRE(kernel);
  REQUIRE(kernel->body);
  CHECK(kernel->is_entry);
  // The kernel stores something: by the copy engine, by threads, or in a function that a debug build calls.
  std::size_t stores = 0;
  for (const char* name : {"cp.async.bulk", "st", "call"}) stores += ptx::count(*kernel, name);
  CHECK(stores > 0);
}
