#pragma once

#include <tmajit/names.hpp>

#include <array>
#include <cstdint>
#include <string_view>

TMAJIT_BEGIN

/// The element that an index outside of its dimension selects. Before the check, negative indices of a signed
/// type count from the end: −1 is the last element.
enum class OutOfRange : std::uint8_t {
  skip,   ///< none: gather stores a value, gather_sum adds nothing; scatter and scatter_add store nothing
  clamp,  ///< the nearest one
  /// none, and the kernel stops by a failed device assertion that names the operation (CUDA_ERROR_ASSERT).
  /// Then the context is unusable, as after a failed `assert` of any kernel. The simulated device reports a
  /// `trap`.
  error,
};
inline constexpr std::array all_out_of_range{OutOfRange::skip, OutOfRange::clamp, OutOfRange::error};
/// "skip", "clamp", "error".
[[nodiscard]] TMAJIT_API std::string_view name(OutOfRange policy) noexcept;
/// The policy of that name. Throws Error{invalid_argument} that lists the names.
template <>
[[nodiscard]] TMAJIT_API OutOfRange parse<OutOfRange>(std::string_view name);

TMAJIT_END
