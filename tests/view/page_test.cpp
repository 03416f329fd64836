#include "temporary_folder.hpp"

#include <tmajit/view/page.hpp>

#include <optional>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <nlohmann/json.hpp>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;

namespace {

/// A kernel whose title and PTX contain HTML that could end elements of the page.
ViewedKernel hostile() {
  return viewed_ptx(
      ".version 8.0\n.target sm_90a\n.address_size 64\n"
      ".visible .entry k()\n{\n  // </script><script>alert(1)</script> <!-- &amp;\n  ret;\n}\n",
      "<b>&\"k\".ptx");
}

nlohmann::json data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const auto begin = page.find(open) + open.size();
  return nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("HTML in a kernel's title and PTX is escaped") {
  const std::string page = view_page(hostile());
  CHECK_THAT(page, ContainsSubstring("<title>&lt;b>&amp;\"k\".ptx</title>"));
  CHECK(count(page, "</script>") == 2);
  CHECK(page.find("<!--") == std::string::npos);
  CHECK_THAT(data_of(page)["kernels"][0]["ptx"]["text"].get<std::string>(),
             ContainsSubstring("// </script><script>alert(1)</script> <!-- &amp;"));
}

TEST_CASE("a page loads nothing") {
  const std::string page = view_page(hostile());
  CHECK_THAT(page, ContainsSubstring("default-src 'none'"));
  for (const auto* const word : {"http://", "https://", "<link", "src=\"", "@import", "url("}) {
    INFO(word);
    CHECK(page.find(word) == std::string::npos);
  }
}

TEST_CASE("a page of PTX alone says why it has no SASS") {
  const auto kernel = data_of(view_page(hostile()))["kernels"][0];
  CHECK(kernel["sass"]["missing_reason"] == "there is no cubin: only the PTX of this kernel was given");
  CHECK(kernel["ptx"]["missing_reason"] == "");
  CHECK(kernel["kernels"] == nlohmann::json{"k"});
}

TEST_CASE("a page has the source files that PTX names, but no files with other suffixes") {
  const TemporaryFolder folder;
  const auto page_of = [&](const std::string& name) {
    tests::write_file(folder / name, "the file's text\n");
    return view_page(
        viewed_ptx(".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n"
                   "  .loc 1 1 1\n  ret;\n}\n.file 1 \"" +
                       folder / name + "\"\n",
                   "k.ptx"));
  };
  CHECK_THAT(page_of("kernel.cu"), ContainsSubstring("the file's text"));
  CHECK_THAT(page_of("secret.key"), !ContainsSubstring("the file's text"));
}

TEST_CASE("the arrays of a text have an entry for each line") {
  const auto ptx = data_of(view_page(hostile()))["kernels"][0]["ptx"];
  const std::size_t lines = count(ptx["text"].get<std::string>(), "\n");
  CHECK(lines == 8);
  CHECK(ptx["locations"].size() == lines);
  for (const auto& kind : ptx["live"]) CHECK(kind.size() == lines);
  CHECK(ptx["live"][0][6] == 0);
  CHECK(ptx["live"][0][0] == nullptr);
}

TEST_CASE("a page of two kernels has their differences") {
  const ViewedKernel left = hostile();
  ViewedKernel right = left;
  const auto at = right.artifact.ptx.find("  ret;");
  right.artifact.ptx.insert(at, "  bar.sync 0;\n");
  const auto diffs = data_of(view_page(left, right))["diffs"];
  CHECK(diffs["ptx"][0] == nlohmann::json{0, 1, 2, 3, 4, 5, -1, 6, 7});
  CHECK(diffs["ptx"][1] == nlohmann::json{0, 1, 2, 3, 4, 5, 6, 7, 8});
  CHECK(data_of(view_page(left))["diffs"] == nullptr);
}
