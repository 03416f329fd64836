#include "view/source_rows.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using view::Location, view::Locations, view::SourceRows;

namespace {

/// The text of a location's row; "?" if there is no row for it.
std::string text_at(const SourceRows& source, Locations& locations, std::string_view path,
                    std::uint64_t line) {
  const auto row = source.row_of(locations[locations.add(path, line, Location::none)]);
  return row ? source.rows()[*row].text : "?";
}

ViewedKernel with_source(std::string source) {
  ViewedKernel kernel;
  kernel.artifact.source = std::move(source);
  return kernel;
}

}  // namespace

TEST_CASE("lines after #line belong to the file that it names, and lines before it to the compiled file") {
  Locations locations;
  for (const auto* const path : {"/at/map.cu", "/at/expression", "/at/other.cuh"})
    locations.add(path, 1, Location::none);
  const ViewedKernel kernel =
      with_source("first\nsecond\n#line 1 \"expression\"\nx * 2\n#line 6 \"map.cu\"\nsixth\n");
  const SourceRows source(kernel, locations, "/at/map.cu");
  CHECK(text_at(source, locations, "/at/map.cu", 1) == "first");
  CHECK(text_at(source, locations, "/at/map.cu", 2) == "second");
  CHECK(text_at(source, locations, "/at/map.cu", 6) == "sixth");
  CHECK(text_at(source, locations, "/at/map.cu", 3) == "?");
  CHECK(text_at(source, locations, "/at/expression", 1) == "x * 2");
  CHECK(text_at(source, locations, "/at/other.cuh", 1) == "?");
}

TEST_CASE("headers that locations name have rows, other headers have none") {
  Locations locations;
  locations.add("/at/tmajit/mbarrier.cuh", 2, Location::none);
  ViewedKernel kernel = with_source("int a;\n#line 1 \"dir/k.cu\"\nint k;\n");
  kernel.headers = {{"tmajit/mbarrier.cuh", "// one\nint wait();\n"},
                    {"barrier.cuh", "wrong"},
                    {"tmajit/fence.cuh", "unused"}};
  const SourceRows source(kernel, locations, "/at/dir/k.cu");
  CHECK(text_at(source, locations, "/at/tmajit/mbarrier.cuh", 2) == "int wait();");
  REQUIRE(source.rows().size() == 7);
  CHECK(source.rows()[4].text == "tmajit/mbarrier.cuh");
  CHECK(source.rows()[4].is_heading);
}

TEST_CASE("without a source, the files that the PTX names are read") {
  Locations locations;
  locations.add("/src/a.cu", 1, Location::none);
  locations.add("/src/gone.cu", 1, Location::none);
  ViewedKernel kernel;
  kernel.read_source = [](const std::string& path) {
    return path == "/src/a.cu" ? std::optional<std::string>("a\r\n") : std::nullopt;
  };
  const SourceRows source(kernel, locations, "/src/a.cu");
  CHECK(text_at(source, locations, "/src/a.cu", 1) == "a");
  CHECK(text_at(source, locations, "/src/gone.cu", 1) == "?");
}
