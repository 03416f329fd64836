// source() makes a kernel's source from a text, constants and a name.
#include <tmajit/cache.hpp>
#include <tmajit/error.hpp>
#include <tmajit/own_kernel.hpp>

#include <limits>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring, Catch::Matchers::MessageMatches;

namespace {

const std::string scaling =
    "namespace my {\n"
    "template <int n, class T>\n"
    "__global__ void scale(T* out) { out[threadIdx.x] *= n; }\n"
    "}\n";

std::string entry_of(std::string text, std::string entry, std::vector<KernelConstant> constants = {}) {
  return compile(
             source({.text = std::move(text), .entry = std::move(entry), .constants = std::move(constants)}))
      .entry;
}

}  // namespace

TEST_CASE("constants are declared before the text, whose line numbers do not change") {
  const Source made = source({.text = "a\nb\n",
                              .file = "my \"kernels\"/k.cu",
                              .entry = "k",
                              .constants = {{"stages", 4},
                                            {"count", 7U},
                                            {"far", std::int64_t{-5}},
                                            {"farther", std::uint64_t{1} << 63U},
                                            {"half", 0.5F},
                                            {"two", 2.0},
                                            {"huge", 1e300},
                                            {"on", true},
                                            {"least", std::numeric_limits<std::int32_t>::min()},
                                            {"least_of_all", std::numeric_limits<std::int64_t>::min()}}});
  CHECK(made.text ==
        "constexpr int stages = 4;\n"
        "constexpr unsigned count = 7u;\n"
        "constexpr long long far = -5ll;\n"
        "constexpr unsigned long long farther = 9223372036854775808ull;\n"
        "constexpr float half = 0.5f;\n"
        "constexpr double two = 2.0;\n"
        "constexpr double huge = 1e+300;\n"
        "constexpr bool on = true;\n"
        "constexpr int least = -2147483648;\n"
        "constexpr long long least_of_all = -9223372036854775807ll - 1;\n"
        "#line 1 \"my \\\"kernels\\\"/k.cu\"\n"
        "a\nb\n");
  CHECK_FALSE(made.headers);
}

TEST_CASE("a constant is parsed from a literal, and the error for another text says what is legal") {
  const std::vector<KernelConstant> constants{{"a", 4},
                                              {"b", -4},
                                              {"c", 4U},
                                              {"d", std::int64_t{4}},
                                              {"e", std::uint64_t{4}},
                                              {"f", 0.1F},
                                              {"g", 0.1},
                                              {"h", false},
                                              {"i", std::int64_t{1} << 40U},
                                              {"j", 3e38F},
                                              {"k", std::numeric_limits<std::int64_t>::min()}};
  for (const KernelConstant& constant : constants) {
    CAPTURE(constant.name, constant.literal());
    CHECK(KernelConstant::parse(constant.name, constant.literal()) == constant);
  }
  CHECK(KernelConstant::parse("i", "1099511627776").value == KernelConstant::Value(std::int64_t{1} << 40U));
  for (const std::string_view wrong : {"", "four", "4x", "0x10", "1.5u", "1e999", "'a'", "4 ", "nan"}) {
    CAPTURE(wrong);
    CHECK_THROWS_MATCHES(KernelConstant::parse("n", wrong), Error,
                         MessageMatches(ContainsSubstring("a C++ literal is needed")));
  }
  CHECK_THROWS_MATCHES(KernelConstant::parse("3d", "4"), Error,
                       MessageMatches(ContainsSubstring("\"3d\" is no name for a constant")));
  CHECK_THROWS_MATCHES(source({.text = "", .constants = {{"n", 1}, {"n", 2}}}), Error,
                       MessageMatches(ContainsSubstring("the constant n is given twice")));
  CHECK_THROWS_MATCHES(source({.text = "", .constants = {{"n", std::numeric_limits<float>::infinity()}}}),
                       Error, MessageMatches(ContainsSubstring("no C++ literal says that")));
}

TEST_CASE("a kernel is selected by its name, by a template expression, or as the only one") {
  const std::string plain = "__global__ void add(float* x) { *x += 1; }\n";
  const std::string extern_c = "extern \"C\" __global__ void add(float* x) { *x += 1; }\n";
  CHECK(entry_of(plain, "add") == "_Z3addPf");
  CHECK(entry_of(plain, "") == "_Z3addPf");
  CHECK(entry_of(extern_c, "add") == "add");
  CHECK(entry_of(extern_c, "") == "add");
  CHECK(entry_of(scaling, "my::scale<3, float>") == "_ZN2my5scaleILi3EfEEvPT0_");
  CHECK(entry_of(scaling, "my::scale<n + 1, double>", {{"n", 4}}) == "_ZN2my5scaleILi5EdEEvPT0_");
  const Artifact made = compile(source({.text = scaling, .entry = "my::scale<3, float>"}));
  CHECK(made.resources.registers > 0);
  CHECK_FALSE(made.cubin.empty());
}

TEST_CASE("the error for a missing or ambiguous kernel lists the source's kernels") {
  const std::string two =
      "template __global__ void my::scale<2, int>(int*);\ntemplate __global__ void my::scale<3, "
      "int>(int*);\n";
  CHECK_THROWS_MATCHES(entry_of(scaling, ""), CompileError,
                       MessageMatches(ContainsSubstring("the source makes no kernel")));
  CHECK_THROWS_MATCHES(
      entry_of(scaling + two, ""), CompileError,
      MessageMatches(ContainsSubstring("several kernels; name one: it has void my::scale<2, int>")));
  CHECK_THROWS_MATCHES(entry_of(scaling + two, "scale"), CompileError,
                       MessageMatches(ContainsSubstring("several kernels \"scale\"")));
  CHECK_THROWS_MATCHES(
      entry_of(scaling + two, "other"), CompileError,
      MessageMatches(ContainsSubstring("no kernel \"other\"; it has void my::scale<2, int>")));
  CHECK_THROWS_MATCHES(entry_of(scaling, "my::other<3>"), CompileError,
                       MessageMatches(ContainsSubstring("my::other<3>")));
}

TEST_CASE("a compile error names the caller's file and line, also in a header") {
  const OwnKernel kernel{.text =
                             "#include \"mine.cuh\"\n"
                             "__global__ void k(int* x) {\n"
                             "  *x = stagse;\n"
                             "}\n",
                         .file = "kernels/k.cu",
                         .headers = {{"mine.cuh", "constexpr int one = 1;\n"}},
                         .constants = {{"stages", 4}}};
  CHECK_THROWS_MATCHES(
      compile(source(kernel)), CompileError,
      MessageMatches(ContainsSubstring("k.cu:3: error: identifier \"stagse\" is undefined")));
  OwnKernel broken = kernel;
  broken.headers[0].second = "\n\nconstexpr int one = tow;\n";
  CHECK_THROWS_MATCHES(
      compile(source(broken)), CompileError,
      MessageMatches(ContainsSubstring("mine.cuh:3: error: identifier \"tow\" is undefined")));
}

TEST_CASE("a kernel's key depends on text, headers, constants and name") {
  const OwnKernel kernel{.text = "#include \"mine.cuh\"\n",
                         .entry = "k<1>",
                         .headers = {{"mine.cuh", "// one"}},
                         .constants = {{"stages", 4}}};
  const auto key = [](const OwnKernel& one) {
    return cache_key(source(one), {}, {13, 0, "build", {}}).hex();
  };
  OwnKernel header = kernel;
  header.headers[0].second = "// two";
  OwnKernel constant = kernel;
  constant.constants[0].value = 5;
  OwnKernel type = kernel;
  type.constants[0].value = 4U;
  OwnKernel entry = kernel;
  entry.entry = "k<2>";
  OwnKernel text = kernel;
  text.text += " ";
  OwnKernel unused = kernel;
  unused.headers.emplace_back("other.cuh", "");
  for (const OwnKernel& other : {header, constant, type, entry, text}) CHECK(key(other) != key(kernel));
  CHECK(key(unused) == key(kernel));
}
