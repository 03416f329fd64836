#pragma once

/// Functions that read and fill callers' structs, which begin with their size.
#include "spec/counted.hpp"
#include "spec/refuse.hpp"

#include <tmajit/c.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

TMAJIT_BEGIN
namespace c {

/// A struct's name in messages, and `min_bytes`, its size in the version that added it: the smallest size
/// that a caller may state. If a struct grows, its `min_bytes` must keep the old value.
template <class T>
struct StructInfo;
#define TMAJIT_STRUCT(type, bytes)                  \
  template <>                                       \
  struct StructInfo<type> {                         \
    static constexpr std::string_view name = #type; \
    static constexpr std::size_t min_bytes = bytes; \
  };                                                \
  static_assert(sizeof(type) >= (bytes));
TMAJIT_STRUCT(tmajit_argument, 88)
TMAJIT_STRUCT(tmajit_counters, 160)
TMAJIT_STRUCT(tmajit_device_info, 176)
TMAJIT_STRUCT(tmajit_finding, 144)
TMAJIT_STRUCT(tmajit_findings_options, 48)
TMAJIT_STRUCT(tmajit_fleet_options, 104)
TMAJIT_STRUCT(tmajit_kernel_record, 96)
TMAJIT_STRUCT(tmajit_kernel_source, 88)
TMAJIT_STRUCT(tmajit_kernel_tune_options, 32)
TMAJIT_STRUCT(tmajit_launch, 88)
TMAJIT_STRUCT(tmajit_left_out, 24)
TMAJIT_STRUCT(tmajit_left_out_kernel, 32)
TMAJIT_STRUCT(tmajit_lint_options, 64)
TMAJIT_STRUCT(tmajit_prefetch_options, 32)
TMAJIT_STRUCT(tmajit_resources, 32)
TMAJIT_STRUCT(tmajit_rule, 56)
TMAJIT_STRUCT(tmajit_runtime_options, 88)
TMAJIT_STRUCT(tmajit_simulation, 96)
TMAJIT_STRUCT(tmajit_tensor, 160)
TMAJIT_STRUCT(tmajit_tensor_map, 120)
TMAJIT_STRUCT(tmajit_tune_options, 16)
TMAJIT_STRUCT(tmajit_tuned, 32)
TMAJIT_STRUCT(tmajit_tuned_kernel, 32)
TMAJIT_STRUCT(tmajit_violation, 56)
#undef TMAJIT_STRUCT

/// Throws Error{invalid_argument} that names the argument if a pointer is null.
template <class T>
T& require_non_null(T* pointer, std::string_view subject) {
  if (pointer == nullptr) refuse("{} is null", subject);
  return *pointer;
}

/// The size that a struct states. Throws Error{invalid_argument} unless it is from `min_bytes` to
/// `max_bytes`, the struct's size in this version.
inline std::size_t checked_size(const void* c_struct, std::string_view subject, std::string_view type,
                                std::size_t min_bytes, std::size_t max_bytes) {
  std::size_t size = 0;
  std::memcpy(&size, c_struct, sizeof size);
  if (size < min_bytes) refuse("{}: size is {}; set it to sizeof({}), {}", subject, size, type, max_bytes);
  if (size > max_bytes) {
    refuse("{}: size is {}, but {} has {} in version {} of the library, which the program runs with", subject,
           size, type, counted(max_bytes, "byte"), TMAJIT_VERSION_STRING);
  }
  return size;
}

template <class T>
std::size_t checked_size(const T& c_struct, std::string_view subject) {
  return checked_size(&c_struct, subject, StructInfo<T>::name, StructInfo<T>::min_bytes, sizeof(T));
}

/// A caller's struct. Members that the caller's version lacks are 0. Throws Error{invalid_argument} for null
/// and for a wrong size.
template <class T>
T read(const T* c_struct, std::string_view subject) {
  T value{};
  std::memcpy(&value, c_struct, checked_size(require_non_null(c_struct, subject), subject));
  return value;
}

/// read(), but a null pointer gives a struct of zeros.
template <class T>
T read_optional(const T* c_struct, std::string_view subject) {
  return c_struct == nullptr ? T{} : read(c_struct, subject);
}

/// Fills a caller's struct, which keeps its size.
template <class T>
void fill(T* c_struct, std::string_view subject, T value) {
  value.size = checked_size(require_non_null(c_struct, subject), subject);
  std::memcpy(c_struct, &value, value.size);
}

/// Element `index` of a caller's array of structs. The size that element 0 states is the array's stride.
/// Throws Error{invalid_argument} if element `index` states another size.
template <class T>
T* element(T* first, std::size_t index, std::string_view subject) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  const std::size_t size = checked_size(*first, subject);
  auto* const found = reinterpret_cast<T*>(reinterpret_cast<Byte*>(first) + index * size);
  if (checked_size(*found, subject) != size) {
    refuse("{} {}: size is {}, but that of element 0 is {}; all elements of an array have one size", subject,
           index, found->size, size);
  }
  return found;
}

/// A caller's array. Throws Error{invalid_argument} if the pointer is null and the count is not 0.
template <class T>
std::span<const T> array(const T* first, std::size_t count, std::string_view subject) {
  if (first == nullptr && count > 0) refuse("{} is null, but {} given", subject, counted(count, "element"));
  return {first, first == nullptr ? 0 : count};
}

/// A caller's text; empty for null.
inline std::string_view text(const char* c_text) noexcept {
  return c_text == nullptr ? std::string_view() : std::string_view(c_text);
}

/// A caller's array of texts. Throws Error{invalid_argument} if one of them is null.
inline std::vector<std::string> texts(const char* const* first, std::size_t count, std::string_view subject) {
  std::vector<std::string> all;
  for (const char* const one : array(first, count, subject))
    all.emplace_back(&require_non_null(one, subject));
  return all;
}

/// Throws Error{invalid_argument} unless reserved members are 0: a later version may use them.
template <class... Members>
void require_zero(std::string_view subject, Members... reserved) {
  if (((reserved != 0) || ...)) refuse("{}: a reserved member is not 0", subject);
}

/// A caller's flag. Throws Error{invalid_argument} unless it is 0 or 1.
inline bool flag(std::uint32_t value, std::string_view subject) {
  if (value > 1) refuse("{} is {}; legal are 0 and 1", subject, value);
  return value == 1;
}

/// Element `index` of a list. Throws Error{invalid_argument} for an index out of range.
template <class List>
const auto& item(const List& list, std::size_t index, std::string_view noun) {
  if (index >= std::size(list))
    refuse("there is no {} {}, counted from 0: there are {}", noun, index, std::size(list));
  return *(std::begin(list) + static_cast<std::ptrdiff_t>(index));
}

/// Sets the pointer through which a call returns a new object to null, before the call's work. Throws
/// Error{invalid_argument} if `result` is null.
template <class T>
void clear_result(T** result, std::string_view subject) {
  require_non_null(result, subject) = nullptr;
}

}  // namespace c
TMAJIT_END
