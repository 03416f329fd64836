#pragma once

#include "ops/plan_table.hpp"
#include "ops/tuning_store.hpp"
#include "runtime/companion.hpp"

TMAJIT_BEGIN

/// What moves keep beside a runtime.
struct MovesKept final : Companion {
  explicit MovesKept(const Runtime& runtime) : tuning(cache_directory_of(runtime)) {}
  TuningStore tuning;
  PlanTables plans;
};

[[nodiscard]] MovesKept& kept_of(const Runtime& runtime);

TMAJIT_END
