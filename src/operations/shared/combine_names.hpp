#pragma once

#include <tmajit/version.hpp>

#include <array>
#include <string_view>

TMAJIT_BEGIN

/// The names of all combinations, as the choices of an argument.
inline constexpr std::array<std::string_view, 8> combine_names{"add", "min", "max", "inc",
                                                               "dec", "and", "or",  "xor"};

TMAJIT_END
