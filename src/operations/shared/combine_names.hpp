#pragma once

#include <tmajit/version.hpp>

#include <array>
#include <string_view>

TMAJIT_BEGIN

/// The operations that combine a stored value with the value in memory, as choices of an argument.
inline constexpr std::array<std::string_view, 8> combine_names{"add", "min", "max", "inc",
                                                               "dec", "and", "or",  "xor"};

TMAJIT_END
