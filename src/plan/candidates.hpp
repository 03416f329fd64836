#pragma once

#include <tmajit/plan.hpp>

TMAJIT_BEGIN

/// The class of a move that moves anything, by which choices for it are kept.
[[nodiscard]] ShapeClass shape_class(const Move& move, const PlanOptions& options);

TMAJIT_END
