/// Directives: lines of templates that select the code of a source.
#include "codegen/directives.hpp"

#include "codegen/definitions.hpp"
#include "codegen/templates.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/error.hpp>

#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {

/// The flags of a family that declares `cut` and `staggered`; `names` are set.
Flags with(std::initializer_list<std::string_view> names) {
  Flags flags;
  for (const std::string_view declared : {"cut", "staggered"}) flags.set(declared, false);
  for (const std::string_view name : names) flags.set(name);
  return flags;
}

}  // namespace

TEST_CASE("flags choose between parts, also nested ones") {
  const std::string text =
      "a\n//@ if cut\nb\n  //@ if !staggered\nc\n//@ else\nd\n//@ end\n//@ else\ne\n//@ end\n//@ # note\nf\n";
  CHECK(selected(text, "t", with({})) == "a\ne\nf\n");
  CHECK(selected(text, "t", with({"cut"})) == "a\nb\nc\nf\n");
  CHECK(selected(text, "t", with({"cut", "staggered"})) == "a\nb\nd\nf\n");
  CHECK(selected(text, "t", with({"staggered"})) == "a\ne\nf\n");
  // In device headers notes are comments.
  CHECK(selected("//@ # note\n  //@ # one\n//@ #\n", "t", Flags::everything()) == "// note\n// one\n//\n");
}

TEST_CASE("lines are written once for each dimension; if their number is unknown, they become a loop") {
  const std::string text =
      "//@ each d\n  a[d] += d == rank - 1 ? id[d] : d2;  // of d\n//@ if cut\n  b(d);\n//@ end\n//@ "
      "end\nc\n";
  Flags two = with({});
  two.set_dimensions(2);
  CHECK(
      selected(text, "t", two) ==
      "  a[0] += 0 == rank - 1 ? id[0] : d2;  // of 0\n  a[1] += 1 == rank - 1 ? id[1] : d2;  // of 1\nc\n");
  two.set("cut");
  CHECK(selected("//@ each d down\n//@ if cut\n  b(d);\n//@ end\n//@ end\n", "t", two) ==
        "  b(1);\n  b(0);\n");
  CHECK(selected("//@ each d\n//@ if !cut\n  b(d);\n//@ end\n//@ end\nc\n", "t", two) == "c\n");
  CHECK(selected("//@ if !cut\n//@ each d\n  b(d);\n//@ end\n//@ end\nc\n", "t", two) == "c\n");
  CHECK(selected("//@ each d\n//@ each e\nb(d, e);\n//@ end\n//@ end\n", "t", two) ==
        "b(0, 0);\nb(0, 1);\nb(1, 0);\nb(1, 1);\n");
  CHECK(selected("//@ each d\n  b(d);\n//@ end\n", "t", Flags{}) ==
        "#pragma unroll\n  for (u32 d = 0; d < rank; ++d) {\n  b(d);\n  }\n");
  CHECK(selected("//@ each d down\n  b(d);\n//@ end\n", "t", Flags::everything()) ==
        "#pragma unroll\n  for (u32 d = rank; d-- > 0;) {\n  b(d);\n  }\n");
}

TEST_CASE("lines are written once for each value, with lists and sums of it") {
  const auto made = [](std::string_view text, const Flags& flags = with({})) {
    return selected(text, "t", flags);
  };
  CHECK(made("//@ each n from 8 to 24 by 8\n$n $(n / 2 + 1) n\n//@ end\nc\n") ==
        "8 5 n\n16 9 n\n24 13 n\nc\n");
  CHECK(made("//@ each t of s8 u.8\nf_$_t.$t\n//@ end\n") == "f_s8.s8\nf_u_8.u.8\n");
  CHECK(
      made(
          "//@ each r from 1 to 5 if rank\n$rd {$[i < r: \"r\"(at.at[$i])]} {$[i < r: %$(i + 2)]}\n//@ end\n",
          with({"rank2", "rank3"})) ==
      "2d {\"r\"(at.at[0]), \"r\"(at.at[1])} {%2, %3}\n"
      "3d {\"r\"(at.at[0]), \"r\"(at.at[1]), \"r\"(at.at[2])} {%2, %3, %4}\n");
  // A flag counts as 0 or 1, so a list over it holds its text once or not at all.
  const std::string_view optional = "//@ each h from 0 to cache_hints\nf(a$[x < h: , policy]);\n//@ end\n";
  CHECK(made(optional) == "f(a);\n");
  CHECK(made(optional, with({"cache_hints"})) == "f(a);\nf(a, policy);\n");
  // Sums and lists wait for the names of all loops around them.
  CHECK(made("//@ each a from 1 to 2\n//@ each b from 1 to 2\n$a$b $(a * 10 + b) $[i < a: $b.$(i + b)]\n//@ "
             "end\n"
             "//@ end\n") == "11 11 1.1\n12 12 2.2\n21 21 1.1, 1.2\n22 22 2.2, 2.3\n");
  CHECK(made("//@ if cut\n//@ each a from 1 to 2\n$a\n//@ end\n//@ end\nc\n") == "c\n");
}

TEST_CASE("one `each` may have several variables, and repeats only paragraphs that contain them") {
  const auto made = [](std::string_view text, const Flags& flags = with({})) {
    return selected(text, "t", flags);
  };
  CHECK(made("//@ each a from 1 to 2, t of x y.z\n$a$_t $(a * 2)\n//@ end\nc\n") ==
        "1x 2\n1y_z 2\n2x 4\n2y_z 4\nc\n");
  // A comment without the variable stands once; one that has it stands before each copy.
  const std::string_view text =
      "//@ each r from 1 to 2, h from 0 to cache_hints\n// first\nf$r($[x < h: policy]);\n\n// second\ng;\n\n"
      "// of $r\nk$r;\n\n//@ end\n";
  CHECK(made(text) == "// first\nf1();\nf2();\n\n// second\ng;\n\n// of 1\nk1;\n\n// of 2\nk2;\n\n");
  CHECK(made(text, with({"cache_hints"})) ==
        "// first\nf1();\nf1(policy);\nf2();\nf2(policy);\n\n// second\ng;\n\n// of 1\nk1;\n\n// of "
        "2\nk2;\n\n");
  CHECK(made("//@ each r from 1 to 5 if rank\n$r\n\nonce\n//@ end\nc\n") == "c\n");
  CHECK(without_unused(made("//@ each t of a b\n//@ used $t\nint $t;\n//@ end\n\n//@ end\nb;\n"), "") ==
        "int b;\n\nb;\n");
  CHECK_THROWS_AS(
      without_unused(made("//@ each t of a b\n//@ used $t\nint $t;\n\n//@ end\n//@ end\nb;\n"), ""), Error);
}

TEST_CASE("a wrong directive is an error that names the file and the line") {
  const auto refused = [](std::string_view text, std::string_view place, std::string_view why) {
    INFO(text);
    try {
      static_cast<void>(selected(text, "ptx/x.cuh", with({})));
      FAIL_CHECK("not refused");
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::internal);
      CHECK_THAT(error.what(), ContainsSubstring(std::string(place)) && ContainsSubstring(std::string(why)));
    }
  };
  refused("a\n//@ if nothing\n//@ end\n", "ptx/x.cuh:2", "\"nothing\"");
  refused("//@ end\n", "ptx/x.cuh:1", "nothing to end");
  refused("//@ else\n", "ptx/x.cuh:1", "no \"//@ if\"");
  refused("//@ if cut\n//@ else\n//@ else\n//@ end\n", "ptx/x.cuh:3", "no \"//@ if\"");
  refused("//@ used a\n//@ else\n//@ end\n", "ptx/x.cuh:2", "no \"//@ if\"");
  refused("//@ each d\n//@ else\n//@ end\n", "ptx/x.cuh:2", "no \"//@ if\"");
  refused("//@ each d\n//@ end\n//@ each n from 1 to\n//@ end\n", "ptx/x.cuh:3", "none of");
  refused("//@ each n from 1 to 3 by 0\n//@ end\n", "ptx/x.cuh:1", "none of");
  refused("//@ each n from 1 to 3 if nothing\n//@ end\n", "ptx/x.cuh:1", "\"nothing1\"");
  refused("//@ each n from 1 to 3\n$(n +)\n//@ end\n", "ptx/x.cuh:3", "is no sum");
  refused("//@ each n from 1 to 3\n$(n / 0)\n//@ end\n", "ptx/x.cuh:3", "is no sum");
  refused("//@ each n from 1 to 3\n$[i < n %$i]\n//@ end\n", "ptx/x.cuh:3", "is not $[name < count: text]");
  refused("//@ each n from 1 to 3\n$[i < n: %$i\n//@ end\n", "ptx/x.cuh:3", "has no");
  refused("//@ each n from 1 to 3\n$(m)\n//@ end\n", "ptx/x.cuh:3", "names no variable");
  refused("//@ each n from 1 to 3,\n//@ end\n", "ptx/x.cuh:1", "none of");
  refused("//@ each n from 1 to 3, m\n//@ end\n", "ptx/x.cuh:1", "none of");
  refused("//@ each n, m from 1 to 3\n//@ end\n", "ptx/x.cuh:1", "none of");
  refused("//@ each d up\n//@ end\n", "ptx/x.cuh:1", "none of");
  refused("//@ each d\na\n", "ptx/x.cuh:2", "ends before");
  refused("//@ if cut\na\n", "ptx/x.cuh:2", "ends before");
  refused("//@ unless cut\n", "ptx/x.cuh:1", "none of");
  refused("//@\n", "ptx/x.cuh:1", "none of");
  CHECK_THROWS_AS(Flags{}.has("nothing"), Error);
  CHECK_THROWS_AS(Flags{}.has("cut"), Error);
  CHECK_FALSE(with({}).has("cut"));
  CHECK_FALSE(Flags{}.has("reads_g"));
}

TEST_CASE("unused text is omitted, and so is text that only unused text uses") {
  const std::string text =
      "//@ used one\nint one() { return two(); }\n//@ end\n"
      "//@ used two\nint two();\n//@ end\n"
      "//@ used three four\nint four();\n//@ end\n";
  CHECK(without_unused(text, "") == "");
  CHECK(without_unused(text + "one();\n", "") == "int one() { return two(); }\nint two();\none();\n");
  CHECK(without_unused(text + "two();\n", "") == "int two();\ntwo();\n");
  CHECK(without_unused(text, "x + four()") == "int four();\n");
  CHECK(without_unused(text + "// one\n\"two\\\" two\" threefour four_;\n", "") ==
        "// one\n\"two\\\" two\" threefour four_;\n");
}

TEST_CASE(
    "a kernel's definitions are kept where kept code names them, with the comments directly above them") {
  const std::string text =
      "namespace n {\n\n// apart\n\n// one\ntemplate <class T, u32 n = 2>\nstruct One {\n  T f() { return "
      "{}; }\n};\n"
      "// two\n__device__ Raw<sizeof(u32), 2> two(One<u32> one,\n                               u32 n) {\n  "
      "return {};\n}\n"
      "using Three = One<u32>;  // three\nconstexpr u32 four = 4 < 5;\ntemplate <> constexpr bool five<u32> "
      "= true;\n"
      "enum class Six : u32 { a };\nstatic_assert(sizeof(u32) == 4);\n#pragma nothing\n\n}  // namespace n\n";
  const std::string rest = "static_assert(sizeof(u32) == 4);\n#pragma nothing\n\n}  // namespace n\n";
  const auto emitted = [&](std::string_view users) { return without_unused(with_uses(text), users); };
  const std::string start = "namespace n {\n\n// apart\n\n";
  const std::string one = text.substr(start.size(), text.find("// two") - start.size());
  const std::string two = text.substr(text.find("// two"), text.find("using Three") - text.find("// two"));
  CHECK(emitted("") == start + rest);
  CHECK(emitted("One") == start + one + rest);
  CHECK(emitted("two(x)") == start + one + two + rest);
  CHECK(emitted("Three") == start + one + "using Three = One<u32>;  // three\n" + rest);
  CHECK(emitted("four + five<u32>") ==
        start + "constexpr u32 four = 4 < 5;\ntemplate <> constexpr bool five<u32> = true;\n" + rest);
  CHECK(without_unused(with_uses("struct alignas(sizeof(u32)) Seven {\n};\n"), "Seven") ==
        "struct alignas(sizeof(u32)) Seven {\n};\n");
  CHECK(emitted("Six::a") == start + "enum class Six : u32 { a };\n" + rest);
}

TEST_CASE("only the used repetitions of a text are kept") {
  const std::string text = "//@ each t of a b\n//@ used f_$t\nint f_$t();\n//@ end\n//@ end\nf_b();\n";
  CHECK(without_unused(selected(text, "t", Flags{}), "") == "int f_b();\nf_b();\n");
  // From 8 operations, 5 ranks and 2 modes, with and without a policy, a kernel holds only the function that
  // it calls.
  const std::string reductions = with_uses(selected(template_text("ptx/bulk_tensor_reduce.cuh"),
                                                    "ptx/bulk_tensor_reduce.cuh", with({"rank2"}))) +
                                 "ptx::tensor_reduce_max(map, at, tile);\n";
  const std::string emitted = without_unused(reductions, "");
  std::size_t instructions = 0;
  for (std::size_t at = 0; (at = emitted.find("asm volatile", at)) != std::string::npos; ++at) ++instructions;
  CHECK(instructions == 1);
  CHECK_THAT(emitted,
             ContainsSubstring("\"cp.reduce.async.bulk.tensor.2d.global.shared::cta.max.tile.bulk_group "
                               "[%0, {%1, %2}], [%3];\""));
}

TEST_CASE("a header without remaining code is omitted, and namespaces are joined") {
  const std::string text =
      "// ---- a ----\nnamespace n {\n\n//@ used a\nint a;\n//@ end\n\n}  // namespace n\n"
      "\n// ---- b ----\n\nnamespace n {\n\nint b;\n\n}  // namespace n\n"
      "\n// ---- c ----\nnamespace n {\n\n//@ expression\n\n}  // namespace n\n";
  CHECK(finished(text, "x", "f.cu") ==
        "// ---- b ----\nnamespace n {\nint b;\n\n// ---- c ----\n#line 1 \"expression\"\nx\n#line 9 "
        "\"f.cu\"\n}  // namespace n\n");
  CHECK_THAT(finished(text, "a", "f.cu"), ContainsSubstring("int a;"));
}

TEST_CASE("an expression that looks like a directive is an expression") {
  CHECK(finished("//@ expression\n", "//@ end", "f") == "#line 1 \"expression\"\n//@ end\n#line 4 \"f\"\n");
}

TEST_CASE("every template is well formed, and device headers use only the generator's flags") {
  for (const EmbeddedFile& file : embedded_templates()) {
    INFO(file.path);
    if (!file.path.starts_with("kernels/")) {
      CHECK_NOTHROW(static_cast<void>(selected(file.text, file.path, Flags{})));
    }
    CHECK_THAT(selected(file.text, file.path, Flags::everything()), !ContainsSubstring("//@ "));
  }
}

TEST_CASE("a custom source gets all of a header, and keeps its own lines as they are") {
  const Source source =
      custom_source("#include \"tmajit/bulk_tensor.cuh\"\n//@ if nothing\n//@ end\n", "k", "mine");
  CHECK_THAT(source.text, ContainsSubstring("#line 1 \"mine\"\n\n//@ if nothing\n//@ end\n"));
  for (const char* part : {"tensor.1d", "tensor.5d", "L2::cache_hint", "tensor_prefetch", "evict_last"}) {
    CHECK_THAT(source.text, ContainsSubstring(part));
  }
}
