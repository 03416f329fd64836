// The headers that source() collects for a kernel.
#include "temporary_folder.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>
#include <tmajit/own_kernel.hpp>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring, Catch::Matchers::MessageMatches;

namespace {

class HeaderFolder {
 public:
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  [[nodiscard]] Source source(const std::string& text, SourceHeaders given = {}) const {
    return tmajit::source({.text = text, .headers = std::move(given), .include_folders = {folder_.path()}});
  }
  [[nodiscard]] std::vector<std::string> names(const std::string& text) const {
    std::vector<std::string> all;
    const Source made = source(text);
    if (made.headers) {
      for (const auto& [name, header] : *made.headers) all.push_back(name);
    }
    return all;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("headers are found in include folders, through headers, conditionals and macros") {
  const HeaderFolder folder;
  folder.write("a.cuh", "#pragma once\n#if 0\n#  include <deep/b.cuh>\n#endif\n#include \"nowhere.h\"\n");
  folder.write("deep/b.cuh", "#include \"c.cuh\"\n#include \"a.cuh\"\n");
  folder.write("deep/c.cuh",
               "#define HEADER(name) <deep/name>\n#define ANOTHER \"e.cuh\"\n"
               "#include HEADER(d.cuh)\n#include ANOTHER\n");
  folder.write("deep/d.cuh", "");
  folder.write("deep/e.cuh", "");
  CHECK(folder.names(" # include \"a.cuh\"  // why\n") ==
        Names{"a.cuh", "c.cuh", "deep/b.cuh", "deep/d.cuh", "e.cuh"});
  CHECK(folder.names("// nothing\n").empty());
  CHECK(folder.names("#include <cstdint>\n#include <vector>\n") == Names{"cstdint"});
}

TEST_CASE("<limits> and headers of C constants are built in, and include folders take precedence") {
  const HeaderFolder folder;
  CHECK(folder
            .names("#include <limits>\n#include <cfloat>\n#include <climits>\n#include <cmath>\n"
                   "#include <math.h>\n#include <float.h>\n#include <limits.h>\n")
            .size() == 7);
  const auto artifact = compile(folder.source(
      "#include <limits>\n#include <cfloat>\n#include <climits>\n#include <cmath>\n#include <cstdint>\n"
      "static_assert(std::numeric_limits<int8_t>::min() == -128 && std::numeric_limits<uint64_t>::max() == "
      "~0ull);\n"
      "static_assert(std::numeric_limits<int64_t>::lowest() == LLONG_MIN && "
      "!std::numeric_limits<int4>::is_specialized);\n"
      "static_assert(std::numeric_limits<int>::digits10 == 9 && std::numeric_limits<unsigned long "
      "long>::digits10 == 19);\n"
      "static_assert(std::numeric_limits<double>::digits == DBL_MANT_DIG && "
      "std::numeric_limits<float>::max() == FLT_MAX);\n"
      "extern \"C\" __global__ void k(float* x) { x[0] = std::numeric_limits<float>::infinity() + INFINITY; "
      "}\n"));
  CHECK_THAT(artifact.ptx, ContainsSubstring("7F800000") || ContainsSubstring("2139095040"));
  folder.write("limits", "#pragma once\n#define OWN 1\n");
  CHECK_THAT(folder.source("#include <limits>\n").headers->front().second, ContainsSubstring("OWN"));
}

TEST_CASE("the name of a header may be the expansion of nested macros") {
  const HeaderFolder folder;
  folder.write("first.cuh",
               "#define SYSTEM_OF(x) x\n#define PLACE cuda\n#if 0\n#define PLACE cpp\n#endif\n"
               "#define ROOT systems/PLACE\n#define HEADER <ROOT/policy.cuh>\n#include HEADER\n");
  folder.write("systems/cuda/policy.cuh", "");
  folder.write("systems/cpp/policy.cuh", "");
  CHECK(folder.names("#include <first.cuh>\n") ==
        Names{"first.cuh", "systems/cpp/policy.cuh", "systems/cuda/policy.cuh"});
  // Neither recursive macros nor exponential expansions take long.
  std::string many = "#define A B\n#define B A\n#include A\n#define N <X/X/X/X/X/X/X/X>\n";
  for (int i = 0; i < 20; ++i) many += "#define X d" + std::to_string(i) + "\n";
  CHECK(folder.names(many + "#include N\n").empty());
}

TEST_CASE("the kernel compiles with the collected headers, which determine its key") {
  const HeaderFolder folder;
  folder.write("deep/b.cuh", "#pragma once\n#include \"../a.cuh\"\ninline constexpr int b = a;\n");
  folder.write("a.cuh", "#pragma once\n#include <cstdint>\ninline constexpr int32_t a = 5;\n");
  const std::string text =
      "#include <deep/b.cuh>\n#include \"tmajit/elect.cuh\"\n"
      "__global__ void k(int* x) { if (tmajit::ptx::elect()) *x = b; }\n";
  const Source made = folder.source(text);
  const std::string ptx = compile(made).ptx;
  folder.write("a.cuh", "#error gone\n");
  CHECK(compile(made).ptx == ptx);
  CHECK_THROWS_MATCHES(compile(folder.source(text)), CompileError, MessageMatches(ContainsSubstring("gone")));
}

TEST_CASE("headers given as text and device headers take precedence over include folders") {
  const HeaderFolder folder;
  folder.write("mine.cuh", "#error the folder's\n");
  folder.write("tmajit/elect.cuh", "#error the folder's\n");
  const Source made =
      folder.source("#include \"mine.cuh\"\n#include <tmajit/elect.cuh>\n", {{"mine.cuh", "// given\n"}});
  REQUIRE(made.headers);
  for (const auto& [name, text] : *made.headers) CHECK(text.find("#error the folder's") == std::string::npos);
  CHECK(made.headers->front().second == "// given\n");
}

TEST_CASE("two headers of the same name and a missing include folder are refused") {
  const HeaderFolder folder;
  folder.write("x/a.cuh", "#include \"detail.cuh\"\n");
  folder.write("y/a.cuh", "#include \"detail.cuh\"\n");
  folder.write("x/detail.cuh", "");
  folder.write("y/detail.cuh", "");
  CHECK_THROWS_MATCHES(folder.source("#include <x/a.cuh>\n#include <y/a.cuh>\n"), Error,
                       MessageMatches(ContainsSubstring("\"detail.cuh\" is included for") &&
                                      ContainsSubstring("include one of them by a longer name")));
  CHECK_THROWS_MATCHES(source({.text = "", .include_folders = {folder.path() / "z"}}), Error,
                       MessageMatches(ContainsSubstring("is no folder")));
}

TEST_CASE("a kernel that includes CUDA's headers compiles") {
  std::vector<std::filesystem::path> folders;
  try {
    folders = cuda_include_folders();
  } catch (const Error& error) {
    SKIP(error.what());
  }
  const Artifact made = compile(source({.text = "#include <cuda_fp16.h>\n#include <cuda.h>\n"
                                                "__global__ void k(const __grid_constant__ CUtensorMap map, "
                                                "__half* x) { *x = __hadd(*x, x[1]); }\n",
                                        .include_folders = folders}));
  CHECK(made.ptx.find("add.f16") != std::string::npos);
}
