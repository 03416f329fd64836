#pragma once

#include "spec/violations.hpp"

#include <tmajit/tensor.hpp>

#include <span>

TMAJIT_BEGIN

/// Checks the rules of a batch of copies, which has a source for each destination. Each violation names its
/// tensor by its index in the list.
void check_ragged(std::span<const Tensor> destinations, std::span<const Tensor> sources,
                  Violations& violations);

TMAJIT_END
