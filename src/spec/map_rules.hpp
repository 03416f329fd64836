#pragma once

#include "spec/violations.hpp"

#include <tmajit/tensor_map_spec.hpp>

#include <cstdint>

TMAJIT_BEGIN

// The rules of a tensor map, in groups, so that a kernel spec can ask for the ones that need no tensor. Every
// group stands for any value of every field.

/// The rank by itself, and that what lies beyond it is zero.
void check_form(const TensorMapSpec& map, Violations& violations);
/// Enumerators, and how rank, type, swizzle, interleave and fill go together.
void check_kind(const TensorMapSpec& map, Violations& violations);
/// box and element_strides.
void check_box(const TensorMapSpec& map, Violations& violations);
/// shape and strides.
void check_extents(const TensorMapSpec& map, Violations& violations);
void check_address(const TensorMapSpec& map, std::uint64_t address, Violations& violations);

TMAJIT_END
