#pragma once

#include "spec/violations.hpp"

#include <tmajit/combine.hpp>

#include <string>

TMAJIT_BEGIN

/// Checks that the copy engine combines elements of `type` by `op`.
void check_combined(CombineOp op, ElementType type, std::string subject, Violations& violations);

TMAJIT_END
