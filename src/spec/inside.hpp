#pragma once

#include <tmajit/version.hpp>

#include <utility>

TMAJIT_BEGIN

/// The library's own way into its handles: public classes name it as a friend, and it is defined here alone.
struct Inside {
  /// The pointer that a handle holds.
  template <class Handle>
  [[nodiscard]] static const auto& state(const Handle& handle) noexcept {
    return handle.state_;
  }
  /// A handle that its users cannot make.
  template <class Handle, class... Parts>
  [[nodiscard]] static Handle make(Parts&&... parts) {
    return Handle(std::forward<Parts>(parts)...);
  }
};

TMAJIT_END
