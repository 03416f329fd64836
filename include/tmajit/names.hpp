#pragma once

#include <tmajit/version.hpp>

#include <string_view>

TMAJIT_BEGIN

/// The enumerator that name() calls so: `parse<Swizzle>("128B")`. Every public enumeration has both, declared
/// beside it; what name() returns ends with a NUL, so that its data() is a C string. Throws
/// Error{invalid_argument} that lists the names and suggests the one that was meant.
template <class Enum>
[[nodiscard]] Enum parse(std::string_view name);

TMAJIT_END
