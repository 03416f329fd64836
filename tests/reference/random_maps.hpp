#pragma once

#include "reference/map_text.hpp"
#include "reference/random.hpp"
#include "seed.hpp"

#include <tmajit/tensor_map_spec.hpp>

#include <cstdint>

namespace reference {

using tests::from_environment;
using tests::seed;

/// A random tensor map that breaks no rule. Each field can have all its legal values: tiny and full boxes,
/// extents up to 2^31, padded, overlapping and zero strides, element strides, interleaved layouts.
[[nodiscard]] tmajit::TensorMapSpec legal_map(Random& random);
/// Like legal_map(), for im2col maps: with any corners, channels and pixels that the other fields allow.
[[nodiscard]] tmajit::TensorMapSpec legal_im2col_map(Random& random);
/// Changes one or two fields of a map to values at or next to the limit of a rule. The map may still be
/// legal.
void mutate(Random& random, tmajit::TensorMapSpec& map);

}  // namespace reference
