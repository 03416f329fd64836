#pragma once

#include <tmajit/element_type.hpp>

#include <cstddef>
#include <cstdint>

namespace movement {

/// The number that an element's bytes stand for. u8, i32, e4m3, bf16, f32 and f64; throws
/// tmajit::Error{unsupported} for others.
double decode(tmajit::ElementType type, const std::byte* element);

/// The element nearest to `value`, ties to even; integers wrap, e4m3 saturates at 448.
void encode(tmajit::ElementType type, double value, std::byte* element);

}  // namespace movement
