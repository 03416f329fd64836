/// Parameter structs have the same layout for NVRTC, which compiles the kernels, and for the host compiler.
/// Their headers assert the layouts of all ranks: including them checks the host compiler, and compiling a
/// kernel that includes them checks NVRTC.
#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <tmajit_params/cast_plan.cuh>
#include <tmajit_params/divider.cuh>
#include <tmajit_params/engine_grid.cuh>
#include <tmajit_params/flat_tile.cuh>
#include <tmajit_params/indexed_plan.cuh>
#include <tmajit_params/moe_plan.cuh>
#include <tmajit_params/row_plan.cuh>
#include <tmajit_params/scalars.cuh>
#include <tmajit_params/tile_grid.cuh>
#include <tmajit_params/top_k_plan.cuh>
#include <tmajit_params/view_pair.cuh>
#include <tmajit_params/views.cuh>
#include <tmajit_params/windows.cuh>

namespace params = tmajit::params;

namespace {

/// Whether a type can be copied to a launch as bytes, and read by field.
template <class T>
constexpr bool is_plain =
    std::is_trivially_copyable_v<T>&& std::is_standard_layout_v<T>&& std::is_aggregate_v<T>;

template <std::uint32_t rank>
void check_rank() {
  INFO("rank " << rank);
  STATIC_CHECK(is_plain<params::TileGrid<rank>>);
  STATIC_CHECK(is_plain<params::RowTail<rank>>);
  STATIC_CHECK(is_plain<params::ViewPair<rank>>);
  STATIC_CHECK(is_plain<params::View<rank>>);
  STATIC_CHECK(is_plain<params::ViewsHead<rank>>);
  STATIC_CHECK(is_plain<params::Window<rank>>);
  STATIC_CHECK(is_plain<params::EngineGrid<rank>>);
  STATIC_CHECK(is_plain<params::FlatTile<rank>>);  // here a number of sources
  STATIC_CHECK(is_plain<params::IndexedPlan<rank, 7>>);
  STATIC_CHECK(is_plain<params::OrderedPlan<rank, 7>>);
  STATIC_CHECK(is_plain<params::Windows<rank>>);
  STATIC_CHECK(is_plain<params::WindowViews<rank>>);
  STATIC_CHECK(is_plain<params::Convolution<rank>>);

  // The host knows only the rank: it writes the head, then source after source.
  using Three = params::Views<rank, 3>;
  STATIC_CHECK(is_plain<Three>);
  STATIC_CHECK(offsetof(Three, source) == sizeof(params::ViewsHead<rank>));
  STATIC_CHECK(sizeof(Three) == sizeof(params::ViewsHead<rank>) + 3 * sizeof(params::View<rank>));
}

template <std::size_t... below>
void check_ranks(std::index_sequence<below...>) {
  (check_rank<below + 1>(), ...);
}

}  // namespace

TEST_CASE("parameters are plain data of every rank") {
  check_ranks(std::make_index_sequence<8>());
  STATIC_CHECK(is_plain<params::CastPlan>);
  STATIC_CHECK(is_plain<params::Divider>);
  STATIC_CHECK(is_plain<params::TensorMap>);
}

TEST_CASE("addresses are 64 bits on the host") {
  STATIC_CHECK(std::is_same_v<decltype(params::ViewPair<1>::source), tmajit::u64>);
  STATIC_CHECK(std::is_same_v<decltype(params::View<1>::first), tmajit::u64>);
  STATIC_CHECK(std::is_same_v<decltype(params::FlatTile<1>::destination), tmajit::u64>);
  STATIC_CHECK(std::is_same_v<decltype(params::RowTail<1>::address), tmajit::u64>);
  STATIC_CHECK(sizeof(tmajit::u64) == sizeof(std::uint64_t));
}

TEST_CASE("NVRTC lays parameters out as the host does") {
  std::string text;
  for (const char* name : {"cast_plan", "divider", "engine_grid", "flat_tile", "indexed_plan", "scalars",
                           "numbers", "tile_grid", "view_pair", "views"}) {
    text += "#include \"tmajit/" + std::string(name) + ".cuh\"\n";
  }
  text += "extern \"C\" __global__ void k() {}\n";
  const tmajit::Source source = tmajit::custom_source(text, "k");
  // The source has the assertions: a custom source gets headers whole.
  for (const char* layout : {"TileGridLayout<8>", "ViewPairLayout<8>", "ViewsLayout<8>",
                             "EngineGridLayout<8>", "FlatTileLayout<8>", "IndexedPlanLayout<8, 7>"}) {
    CHECK_THAT(source.text, Catch::Matchers::ContainsSubstring(layout));
  }
  CHECK_NOTHROW(compile(source));
}
