#pragma once

#include <tmajit/version.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

TMAJIT_BEGIN

struct ExpressionMistake {
  std::size_t offset;   ///< byte of the expression at which the mistake is reported
  std::string message;  ///< "\"(\" is not closed"
};

/// The first reason why `text` cannot be one C++ expression on one line, without regard to names and types:
/// unbalanced brackets, a statement, a comment, a directive, an open literal, an empty text. The compiler
/// would report such a mistake only in the generated text around the expression, or not at all.
[[nodiscard]] std::optional<ExpressionMistake> check_expression(std::string_view text);

/// Throws CompileError that shows the mistake with a caret under it.
void require_expression(std::string_view text);

TMAJIT_END
