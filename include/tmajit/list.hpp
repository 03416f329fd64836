#pragma once

#include <tmajit/version.hpp>

#include <initializer_list>
#include <span>

TMAJIT_BEGIN

/// The parameter type of functions that take several things: a std::span<const T> that can also be written as
/// `{a, b}`, as std::span can in C++26. It owns nothing, so it is for parameters alone.
template <class T>
class List : public std::span<const T> {
 public:
  using std::span<const T>::span;
  constexpr List(std::span<const T> items) noexcept
      : std::span<const T>(items) {}  // NOLINT: converts implicitly
  constexpr List(std::initializer_list<T> items) noexcept : std::span<const T>(items.begin(), items.size()) {}
};

TMAJIT_END
