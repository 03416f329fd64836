#pragma once

/// Reductions by the copy engine: each element of the destination is combined with an element of the source
/// (PTX ISA 9.7.9.25.4.2, "cp.reduce.async.bulk", and 9.7.9.27.1.3, "cp.reduce.async.bulk.tensor").
#include "sim/arithmetic/numeric.hpp"
#include "sim/program/program.hpp"

#include <tmajit/element_type.hpp>

TMAJIT_BEGIN
namespace sim {

/// The kind of destination, which decides the legal operations: global memory, a peer's shared memory, a
/// tensor.
enum class ReductionTo : std::uint8_t { global, peer, tensor };

/// The reduction of elements of `type`; nothing if the ISA has no such reduction.
[[nodiscard]] std::optional<Reduction> reduction_of(Atomic operation, ptx::ScalarType type, ReductionTo to);
/// The reduction into a tensor of `type`; nothing if the ISA has no such reduction.
[[nodiscard]] std::optional<Reduction> reduction_of(Atomic operation, ElementType type);

}  // namespace sim
TMAJIT_END
