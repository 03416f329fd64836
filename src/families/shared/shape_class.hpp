#pragma once

#include "kernel/family.hpp"

TMAJIT_BEGIN

/// The class of a problem, which keys the tuned choices. `usual` is the candidate that suits most problems of
/// the kind.
[[nodiscard]] ShapeClass shape_class_of(const Problem& problem, const Candidate& usual);

TMAJIT_END
