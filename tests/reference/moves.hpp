#pragma once

#include "reference/scalar.hpp"

#include <tmajit/tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace reference {

/// A tensor in host memory: `first` is its element with all indices 0.
struct HostView {
  tmajit::TensorView view;
  std::byte* first = nullptr;
};

/// What a map computes at the destination's index g.
using MoveFunction = std::function<Scalar(std::span<const Scalar> x, std::span<const std::uint64_t> g)>;

// What each operation of tmajit/move.hpp leaves in its destination: a walk over the destination's indices
// that reckons the source's index by the operation's own rule. Nothing else is written. Sources are repeated
// by NumPy's rules where their extent is 1 or a dimension is missing in front; std::invalid_argument for
// shapes that do not fit.

void copy(const HostView& to, const HostView& from);
void permute(const HostView& to, const HostView& from, std::span<const std::uint32_t> axes);
void flip(const HostView& to, const HostView& from, std::uint32_t axis);
void slice(const HostView& to, const HostView& from, std::span<const tmajit::Slice> slices);
void pad(const HostView& to, const HostView& from, std::span<const std::int64_t> before, double value);
void concat(const HostView& to, std::span<const HostView> from, std::uint32_t axis);
void split(std::span<const HostView> to, const HostView& from, std::uint32_t axis);
void cast(const HostView& to, const HostView& from);
void map(const HostView& to, std::span<const HostView> from, const MoveFunction& f);

}  // namespace reference
