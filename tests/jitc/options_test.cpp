#include "problem.hpp"
#include "subprocess.hpp"

#include <algorithm>

#include <catch2/catch_test_macros.hpp>

using namespace jitc;
using namespace std::string_literals;
using tmajit::ElementType;

namespace {

std::vector<std::uint64_t> shape(const tmajit::TensorView& view) {
  return {view.shape.begin(), view.shape.begin() + view.rank};
}
std::vector<std::int64_t> strides(const tmajit::TensorView& view) {
  return {view.strides.begin(), view.strides.begin() + view.rank};
}

}  // namespace

TEST_CASE("types: one for all, or the inputs' and then the output's") {
  KernelOptions options;
  options.family = "map"s;
  options.expression = "x0+x1"s;
  options.dtypes = {"f16"};
  auto problem = make_problem(options, Padding::no);
  REQUIRE(problem.views.size() == 3);
  CHECK(std::all_of(problem.views.begin(), problem.views.end(),
                    [](const auto& view) { return view.type == ElementType::f16; }));
  options.dtypes = {"f16,bf16"};
  problem = make_problem(options, Padding::no);
  CHECK(problem.views[1].type == ElementType::bf16);
  CHECK(problem.output().type == ElementType::f16);
  options.dtypes = {"f16", "bf16", "f32"};
  CHECK(make_problem(options, Padding::no).output().type == ElementType::f32);
  options.dtypes = {"f16,bf16"};
  options.out_dtype = "u8"s;
  CHECK(make_problem(options, Padding::no).output().type == ElementType::u8);
}

TEST_CASE("shapes: as given, else the box, else 4096x4096; the output's over the element strides") {
  KernelOptions options;
  options.family = "copy"s;
  CHECK(shape(make_problem(options, Padding::no).output()) == std::vector<std::uint64_t>{4096, 4096});
  options.box = "2,8,64"s;
  CHECK(shape(make_problem(options, Padding::no).output()) == std::vector<std::uint64_t>{2, 8, 64});
  options.shape = "5x33x64"s;
  options.element_strides = "1x2x1"s;
  auto problem = make_problem(options, Padding::no);
  CHECK(shape(problem.output()) == std::vector<std::uint64_t>{5, 17, 64});
  CHECK(violations(problem).empty());
  options.strides = {"4224,128,1"};
  options.out_strides = "2000,100,1"s;
  problem = make_problem(options, Padding::no);
  CHECK(strides(problem.views[0]) == std::vector<std::int64_t>{4224, 128, 1});
  CHECK(strides(problem.output()) == std::vector<std::int64_t>{2000, 100, 1});
  CHECK(violations(problem).empty());
}

TEST_CASE("rows are padded for a run only, only where TMA needs it, and it is said") {
  KernelOptions options;
  options.family = "copy"s;
  options.shape = "10x7"s;
  options.dtypes = {"u8"};
  CHECK_FALSE(violations(make_problem(options, Padding::no)).empty());
  auto problem = make_problem(options, Padding::where_needed);
  CHECK(strides(problem.views[0]) == std::vector<std::int64_t>{16, 1});
  CHECK(strides(problem.output()) == std::vector<std::int64_t>{16, 1});
  CHECK(problem.notes.size() == 2);
  CHECK(violations(problem).empty());
  options.shape = "10x32"s;
  CHECK(make_problem(options, Padding::where_needed).notes.empty());
  options.shape = "10x7"s;
  options.strides = {"7,1"};
  CHECK_FALSE(violations(make_problem(options, Padding::where_needed)).empty());
}

TEST_CASE("files bring type and shape; a bulk kernel takes any rank as one row") {
  const test::Folder folder;
  test::write_npy(folder / "a.npy", "<f2", {3, 4}, std::string(24, '\0'));
  KernelOptions options;
  options.family = "bulk"s;
  options.expression = "x"s;
  options.in = {folder / "a.npy"};
  const auto problem = make_problem(options, Padding::where_needed);
  CHECK(problem.views[0].type == ElementType::f16);
  CHECK(shape(problem.views[0]) == std::vector<std::uint64_t>{12});
  CHECK(problem.output_shape == std::vector<std::uint64_t>{3, 4});
  options.shape = "4x3"s;
  CHECK_THROWS_AS(make_problem(options, Padding::no), tmajit::Error);
  options.shape = "3x4"s;
  CHECK_NOTHROW(make_problem(options, Padding::no));
  options.dtypes = {"bf16"};
  CHECK_THROWS_AS(make_problem(options, Padding::no), tmajit::Error);
}

TEST_CASE("options --oob and --l2 are part of what is validated") {
  KernelOptions options;
  options.family = "copy"s;
  options.dtypes = {"i32"};
  options.oob = "nan"s;
  const auto broken = violations(make_problem(options, Padding::no));
  REQUIRE(broken.size() == 1);
  CHECK(broken.front().subject.rfind("input: ", 0) == 0);
  options.dtypes = {"f32"};
  CHECK(violations(make_problem(options, Padding::no)).empty());
}
