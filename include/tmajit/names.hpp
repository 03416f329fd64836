#pragma once

#include <tmajit/version.hpp>

#include <string_view>

TMAJIT_BEGIN

/// The enumerator with that name(): `parse<Swizzle>("128B")`. Every public enumeration declares both
/// functions. A NUL follows the text that name() returns, so that its data() is a C string. Throws
/// Error{invalid_argument} that lists the names and suggests the nearest one.
template <class Enum>
[[nodiscard]] Enum parse(std::string_view name);

TMAJIT_END
