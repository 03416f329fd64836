#pragma once

#include <tmajit/version.hpp>

#include <initializer_list>
#include <span>

TMAJIT_BEGIN

/// The type of parameters that take several values: a std::span<const T> that callers can also write as
/// `{a, b}`, as std::span in C++26. It owns nothing, so use it for parameters only.
template <class T>
class List : public std::span<const T> {
 public:
  using std::span<const T>::span;
  constexpr List(std::span<const T> items) noexcept
      : std::span<const T>(items) {}  // NOLINT: converts implicitly
  constexpr List(std::initializer_list<T> items) noexcept : std::span<const T>(items.begin(), items.size()) {}
};

TMAJIT_END
