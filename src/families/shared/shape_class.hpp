#pragma once

#include "kernel/family.hpp"

TMAJIT_BEGIN

/// The shape of a problem: the key of tuned choices.
[[nodiscard]] ShapeClass shape_class_of(const Problem& problem, const Candidate& default_candidate);

TMAJIT_END
