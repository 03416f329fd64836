#pragma once

#include "ops/plan_table.hpp"
#include "ops/trials.hpp"
#include "ops/tuning_store.hpp"
#include "runtime/companion.hpp"

TMAJIT_BEGIN

/// The state of moves that lives as long as a runtime: tuned choices, trials and cached plans.
struct MoveCaches final : Companion {
  explicit MoveCaches(const Runtime& runtime) : tuning(options_of(runtime).cache_directory) {}
  TuningStore tuning;
  Trials trials;
  PlanTables plans;
};

[[nodiscard]] MoveCaches& move_caches(const Runtime& runtime);

TMAJIT_END
