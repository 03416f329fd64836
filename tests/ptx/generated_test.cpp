#include "codegen/specs.hpp"
#include "ptx/query.hpp"
#include "ptx/texts.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>

using namespace tmajit;

TEST_CASE("every family's kernel goes through the tree unchanged") {
  const Family family = GENERATE(from_range(all_families));
  const std::vector<std::string> debug =
      GENERATE(values<std::vector<std::string>>({std::vector<std::string>{}, {"-G"}}));
  CAPTURE(name(family), debug);
  const std::uint32_t rank = family == Family::bulk ? 1 : 3;
  CompileOptions options;
  options.extra = debug;
  options.line_info = debug.empty();
  const Artifact artifact =
      compile(generate(small_spec(family, rank, Swizzle::none, ElementType::bf16)), options);
  const ptx::Module module = tests::parse(artifact.ptx);
  const std::string printed = ptx::print(module);
  CHECK((tests::parse(printed) == module));
  const ptx::Function* kernel = module.find(artifact.entry);
  REQUIRE(kernel);
  REQUIRE(kernel->body);
  CHECK(kernel->is_entry);
  CHECK(ptx::count(*kernel, "mbarrier.init") + ptx::count(*kernel, "call") > 0);
}
