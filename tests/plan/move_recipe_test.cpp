/// Recipes name kernels in the cache: one that forgets a field would give a move another's kernel.
#include "plan/moves.hpp"

#include <cstddef>
#include <cstring>
#include <set>
#include <type_traits>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

/// Every value different from its neighbours', so that exchanged fields show.
MoveKernel full_kernel() {
  MoveKernel kernel;
  kernel.method = MoveMethod::general;
  kernel.sources = max_operands - 1;
  std::uint32_t next = 100;
  const auto fill = [&](auto& values) {
    for (auto& value : values) value = next++;
  };
  kernel.threads = next++, kernel.chunk = next++, kernel.turns = next++, kernel.alignment = next++;
  fill(kernel.box), fill(kernel.source_order), fill(kernel.dimension_of);
  for (SourcePlan& plan : kernel.source) {
    plan.offset = next++, plan.run = next++, plan.pitch = next++, plan.skew = next++;
    fill(plan.order), fill(plan.lines), fill(plan.image_step);
  }
  return kernel;
}

}  // namespace

TEST_CASE("a recipe changes with every field of a kernel and its sources") {
  // Field by field would miss a field that is added later: every byte has its lowest bit turned. Where a
  // field has changed by that (padding has not), the kernels are unequal and so must be the recipes.
  static_assert(std::is_trivially_copyable_v<MoveKernel> && std::is_standard_layout_v<MoveKernel>);
  const MoveKernel kernel = full_kernel();
  const std::string recipe = move_recipe(kernel, "x0");
  std::set<std::string> recipes{recipe};
  std::size_t changes = 0;
  for (std::size_t at = 0; at < sizeof(MoveKernel); ++at) {
    // Of sources there are at most eight.
    if (at >= offsetof(MoveKernel, sources) && at < offsetof(MoveKernel, sources) + sizeof kernel.sources)
      continue;
    std::array<std::byte, sizeof(MoveKernel)> bytes{};
    std::memcpy(bytes.data(), &kernel, sizeof kernel);
    bytes[at] ^= std::byte{1};
    MoveKernel changed;
    std::memcpy(&changed, bytes.data(), sizeof changed);
    INFO("byte " << at);
    if (changed == kernel) {
      CHECK(move_recipe(changed, "x0") == recipe);
    } else {
      ++changes;
      CHECK(recipes.insert(move_recipe(changed, "x0")).second);
    }
  }
  CHECK(changes > (max_operands - 1) * sizeof(SourcePlan) / 2);
}

TEST_CASE("a recipe changes with the number of sources and the expression") {
  std::set<std::string> recipes;
  MoveKernel kernel = full_kernel();
  for (kernel.sources = 1; kernel.sources < max_operands; ++kernel.sources) {
    for (const char* expression : {"", "x0", "x0 ", "x0 + x1"}) {
      CHECK(recipes.insert(move_recipe(kernel, expression)).second);
    }
  }
}

TEST_CASE("equal kernels have equal recipes and sources, wherever they lie in memory") {
  for (const auto& [name, move, traits] : tests::known_moves()) {
    INFO(name);
    Move elsewhere = move;
    elsewhere.destination.address += 1 << 20;
    for (Tensor& source : elsewhere.sources) source.address += 1 << 20;
    const std::vector<MoveCandidate> here = move_candidates(move_problem(move));
    const std::vector<MoveCandidate> there = move_candidates(move_problem(elsewhere));
    REQUIRE(here.size() == there.size());
    for (std::size_t i = 0; i < here.size(); ++i) {
      CHECK(here[i].kernel == there[i].kernel);
      CHECK(move_recipe(here[i].kernel, move.expression) == move_recipe(there[i].kernel, move.expression));
    }
    CHECK(move_source(here[0].kernel, move.expression).text ==
          move_source(there[0].kernel, move.expression).text);
  }
}

TEST_CASE("known moves have recipes and sources of their own") {
  std::set<std::string> recipes;
  std::set<std::string> texts;
  for (const auto& [name, move, traits] : tests::known_moves()) {
    const MoveKernel kernel = move_candidates(move_problem(move)).front().kernel;
    const std::string recipe = move_recipe(kernel, move.expression);
    INFO(name);
    // A text follows from its recipe; the other way round two recipes may have one.
    const bool is_new = texts.insert(move_source(kernel, move.expression).text).second;
    CHECK((!is_new || recipes.insert(recipe).second));
  }
}
