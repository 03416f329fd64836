#pragma once

#include "spec/violations.hpp"

#include <tmajit/tensor.hpp>

#include <span>

TMAJIT_BEGIN

/// The rules of a batch of copies, of as many sources as destinations; each violation names which tensor of
/// the lists it is about.
void check_ragged(std::span<const Tensor> destinations, std::span<const Tensor> sources,
                  Violations& violations);

TMAJIT_END
