#pragma once

#include "codegen/flags.hpp"

#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// Returns a text's lines, without line feeds.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

/// Template lines that begin with "//@" are directives: they select what a source holds
/// (templates/README.md):
///   //@ if NAME    //@ if !NAME    //@ else    //@ end     by the kernel's flags
///   //@ each d    //@ each d down              //@ end     once for each dimension, d
///   //@ each n from 8 to 256 by 8    //@ each r from 1 to 5 if rank    //@ each t of s8 u8    //@ end
///                                                          once for each value, $n, $r, $t (repetition.hpp)
///   //@ used NAME…                 //@ end                 by whether any of the names occurs elsewhere
///   //@ expression    //@ epilogue                         the places of the user's expressions
///   //@ text NAME: TEXT                                    a user's text, in a file NAME
///   //@ # …                                                a note for readers of the template

/// Evaluates `if` and `each`, and removes notes. If `flags` keep everything, notes become comments and `used`
/// is removed. Throws Error{internal} with `file` and line for a wrong directive: an undeclared flag, an
/// `else` or `end` without an opening one, a missing `end`.
[[nodiscard]] std::string selected(std::string_view text, std::string_view file, const Flags& flags);

/// Removes every `used` part whose names occur neither in the code that is kept nor in `expression`.
[[nodiscard]] std::string without_unused(std::string_view text, std::string_view expression);

/// The last step from gathered parts to a source: removes unused parts and empty headers, and joins adjacent
/// namespaces of one name. A line `//@ expression` becomes the user's expression on a line of its own, which
/// `#line` assigns to a file "expression": the compiler then reports the user's line and column. In the same
/// way `//@ epilogue` becomes `epilogue`, in a file "epilogue", and `//@ text m: x + 1` becomes `x + 1`, in a
/// file "m". Later lines belong to `file` again.
[[nodiscard]] std::string finished(std::string_view text, std::string_view expression, std::string_view file,
                                   std::string_view epilogue = {});

TMAJIT_END
