#pragma once

#include "spec/violations.hpp"

#include <tmajit/combine.hpp>

#include <string>

TMAJIT_BEGIN

/// That the copy engine combines elements of `type` so.
void check_combined(CombineOp op, ElementType type, std::string subject, Violations& violations);

TMAJIT_END
