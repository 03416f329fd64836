#pragma once

#include <tmajit/version.hpp>

#include <utility>

TMAJIT_BEGIN

/// The library's access to the state of its handles: public classes name it as a friend, and only this header
/// defines it.
struct Inside {
  /// The pointer that a handle holds.
  template <class Handle>
  [[nodiscard]] static const auto& state(const Handle& handle) noexcept {
    return handle.state_;
  }
  /// Makes a handle by its private constructor.
  template <class Handle, class... Parts>
  [[nodiscard]] static Handle make(Parts&&... parts) {
    return Handle(std::forward<Parts>(parts)...);
  }
};

TMAJIT_END
