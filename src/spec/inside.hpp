#pragma once

#include <tmajit/version.hpp>

#include <utility>

TMAJIT_BEGIN

/// Gives the library access to the private members of its handles, such as KernelPlan and Kernel. These
/// classes declare it as a friend, and only this header defines it.
struct Inside {
  /// The pointer that a handle holds.
  template <class Handle>
  [[nodiscard]] static const auto& state(const Handle& handle) noexcept {
    return handle.state_;
  }
  /// Makes a handle: passes `parts`, usually its state, to its private constructor.
  template <class Handle, class... Parts>
  [[nodiscard]] static Handle make(Parts&&... parts) {
    return Handle(std::forward<Parts>(parts)...);
  }
};

TMAJIT_END
