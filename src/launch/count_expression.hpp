#pragma once

#include <tmajit/version.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

TMAJIT_BEGIN

/// Values of the names in an expression.
using Counts = std::map<std::string, std::int64_t, std::less<>>;

/// The value of an expression such as "ceil_div(columns, 4 * rows)". It may have whole numbers, names of
/// `counts`, + - * / %, parentheses, ceil_div(a, b), min(a, b) and max(a, b). Division truncates, as in C++.
/// Throws Error{invalid_argument} that says what cannot be read, what a name may be, or which operation has
/// no result.
[[nodiscard]] std::int64_t evaluate_count(std::string_view text, const Counts& counts);

TMAJIT_END
