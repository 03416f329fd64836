#pragma once

#include <tmajit/version.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <ranges>
#include <type_traits>

TMAJIT_BEGIN

/// Dimensions a view can have. A tensor map has at most `max_map_rank` of them.
inline constexpr std::uint32_t max_view_rank = 8;
inline constexpr std::uint32_t max_map_rank = 5;

/// A type of whole numbers: not bool, and no character.
template <class T>
concept Integer =
    std::integral<T> && !std::same_as<T, bool> && !std::same_as<T, char> && !std::same_as<T, wchar_t> &&
    !std::same_as<T, char8_t> && !std::same_as<T, char16_t> && !std::same_as<T, char32_t>;

/// One number for each dimension, outermost first: a shape, strides, axes, a box, an index, a padding. Plain
/// data. Callers may pass `{8, 512, 16, 64}` or any contiguous range of integers, signed or not.
/// Throws Error{invalid_argument} for more than `max_view_rank` numbers, or for one above 2^63 - 1.
class Dims {
 public:
  /// One of the numbers, from any type of integers.
  struct Number {
    std::int64_t value;
    template <Integer T>
    constexpr Number(T number) : value(static_cast<std::int64_t>(number)) {  // NOLINT: converts implicitly
      if (std::is_unsigned_v<T> && value < 0) refuse_number(static_cast<std::uint64_t>(number));
    }
  };

  constexpr Dims() noexcept = default;
  constexpr Dims(std::initializer_list<Number> numbers) : size_(rank_of(numbers.size())) {
    std::size_t d = 0;
    for (const Number number : numbers) numbers_[d++] = number.value;
  }
  template <class Range>
  requires(!std::same_as<Range, Dims> && std::ranges::contiguous_range<const Range&> &&
           std::ranges::sized_range<const Range&> &&
           Integer<std::ranges::range_value_t<const Range&>>) constexpr Dims(const Range& numbers)
      : size_(rank_of(std::ranges::size(numbers))) {  // NOLINT: converts implicitly
    std::size_t d = 0;
    for (const auto number : numbers) numbers_[d++] = Number(number).value;
  }

  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] constexpr const std::int64_t* data() const noexcept { return numbers_.data(); }
  [[nodiscard]] constexpr const std::int64_t* begin() const noexcept { return numbers_.data(); }
  [[nodiscard]] constexpr const std::int64_t* end() const noexcept { return numbers_.data() + size_; }
  /// `d` must be below size().
  [[nodiscard]] constexpr std::int64_t operator[](std::size_t d) const noexcept { return numbers_[d]; }

  friend bool operator==(const Dims&, const Dims&) = default;

 private:
  [[noreturn]] TMAJIT_API static void refuse_number(std::uint64_t number);
  [[noreturn]] TMAJIT_API static void refuse_rank(std::size_t size);
  static constexpr std::uint32_t rank_of(std::size_t size) {
    if (size > max_view_rank) refuse_rank(size);
    return static_cast<std::uint32_t>(size);
  }

  std::array<std::int64_t, max_view_rank>
      numbers_{};  // zero beyond the size, so that equal Dims have equal bytes
  std::uint32_t size_ = 0;
};
static_assert(std::is_trivially_copyable_v<Dims>);

TMAJIT_END
