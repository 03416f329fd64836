#pragma once

#include "codegen/flags.hpp"

#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// A text's lines, without their ends.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

/// Lines of templates that begin with "//@" decide what of them a source holds (templates/README.md):
///   //@ if NAME    //@ if !NAME    //@ else    //@ end     by the kernel's flags
///   //@ each d    //@ each d down              //@ end     once for each dimension, d
///   //@ each n from 8 to 256 by 8    //@ each r from 1 to 5 if rank    //@ each t of s8 u8    //@ end
///                                                          once for each value, $n, $r, $t (repetition.hpp)
///   //@ used NAME…                 //@ end                 by whether any of the names occurs elsewhere
///   //@ expression    //@ then                             where the user's expressions stand
///   //@ # …                                                a note to those who read the template

/// Evaluates the lines of the first three kinds and removes notes; if `flags` keep all, it makes notes
/// comments and removes the lines of the fourth kind. Throws Error{internal} that names `file` and the line
/// where one is wrong: no known flag, `else` or `end` of nothing, no `end`.
[[nodiscard]] std::string selected(std::string_view text, std::string_view file, const Flags& flags);

/// Leaves out every part that is marked as used by a name that nothing kept has in its code; the expression's
/// code counts.
[[nodiscard]] std::string without_unused(std::string_view text, std::string_view expression);

/// The last step from gathered parts to a source: what nothing uses is left out, headers of
/// which nothing is left go too, and parts of one namespace that follow each other share it. A line `//@
/// expression` becomes the user's expression, alone on its line in a file "expression", so that the
/// compiler's line and column are the user's; the lines after it are those of `file` again.
/// `//@ then` becomes `then`, in a file of that name.
[[nodiscard]] std::string finished(std::string_view text, std::string_view expression, std::string_view file,
                                   std::string_view then = {});

TMAJIT_END
