#include "compile/expression.hpp"

#include "compile/diagnostics.hpp"

#include <tmajit/error.hpp>

#include <vector>

#include <llvm/ADT/StringExtras.h>
#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN

namespace {

bool starts_identifier(char c) {
  return llvm::isAlpha(c) || c == '_';
}
bool continues_identifier(char c) {
  return llvm::isAlnum(c) || c == '_';
}

/// Scans the tokens of an expression that determine its structure: brackets, literals, comments.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::optional<ExpressionMistake> run() {
    if (text_.find_first_not_of(" \t") == std::string_view::npos) {
      return ExpressionMistake{0, "the expression is empty"};
    }
    // Checked first, for the whole text: in a literal, a backslash would hide a newline from the steps below.
    if (auto mistake = find_control_character()) return mistake;
    while (at_ < text_.size()) {
      if (auto mistake = step()) return mistake;
    }
    if (!open_.empty()) {
      return ExpressionMistake{open_.back(), fmt::format("\"{}\" is not closed", text_[open_.back()])};
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  [[nodiscard]] bool is_next(std::string_view token) const { return text_.substr(at_).starts_with(token); }
  [[nodiscard]] ExpressionMistake here(std::string message) const { return {at_, std::move(message)}; }

  [[nodiscard]] std::optional<ExpressionMistake> find_control_character() const {
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const auto c = static_cast<unsigned char>(text_[i]);
      if (c == '\n' || c == '\r') return ExpressionMistake{i, "an expression is one line"};
      if ((c < 0x20 && c != '\t') || c == 0x7F) {
        return ExpressionMistake{i, fmt::format("control character 0x{:02x}", c)};
      }
    }
    return std::nullopt;
  }

  std::optional<ExpressionMistake> step() {
    const char c = peek();
    if (llvm::isDigit(c) || (c == '.' && llvm::isDigit(peek(1)))) return skip_number();
    if (starts_identifier(c)) return skip_identifier();
    if (c == '"' || c == '\'') return skip_literal(c);
    if (is_next("//") || is_next("/*")) return here("a comment cannot stand in an expression");
    if (is_next("<%") || is_next("%>") || is_next("%:")) {
      return here(fmt::format("\"{}\" cannot stand in an expression", text_.substr(at_, 2)));
    }
    switch (c) {
      case '(':
      case '[':
      case '{': open_.push_back(at_); break;
      case ')': return close('(');
      case ']': return close('[');
      case '}': return close('{');
      case ';': return here("a statement cannot stand in an expression");
      case '#':
      case '\\': return here(fmt::format("\"{}\" cannot stand in an expression", c));
      default: break;
    }
    ++at_;
    return std::nullopt;
  }

  std::optional<ExpressionMistake> close(char opener) {
    if (open_.empty()) return here(fmt::format("\"{}\" closes nothing", peek()));
    if (text_[open_.back()] != opener) {
      return here(fmt::format("\"{}\" where \"{}\" is to be closed first", peek(), text_[open_.back()]));
    }
    open_.pop_back();
    ++at_;
    return std::nullopt;
  }

  /// A preprocessing number: 1'000'000, 0x1p-3f, 1e+5. Its apostrophes open no literal.
  std::optional<ExpressionMistake> skip_number() {
    while (at_ < text_.size()) {
      const char c = peek();
      const bool signed_exponent = (c == '+' || c == '-') && llvm::StringRef("eEpP").contains(text_[at_ - 1]);
      const bool separator = c == '\'' && continues_identifier(peek(1));
      if (!continues_identifier(c) && c != '.' && !separator && !signed_exponent) break;
      ++at_;
    }
    return std::nullopt;
  }

  std::optional<ExpressionMistake> skip_identifier() {
    const auto begin = at_;
    while (continues_identifier(peek())) ++at_;
    if (peek() == '"' && text_[at_ - 1] == 'R') {
      return ExpressionMistake{begin, "a raw string cannot stand in an expression"};
    }
    return std::nullopt;
  }

  std::optional<ExpressionMistake> skip_literal(char quote) {
    const auto begin = at_++;
    while (at_ < text_.size() && peek() != quote) {
      at_ += peek() == '\\' && at_ + 1 < text_.size() ? 2 : 1;
    }
    if (at_ >= text_.size()) {
      return ExpressionMistake{begin, fmt::format("this {} opens a literal that is not closed", quote)};
    }
    ++at_;
    return std::nullopt;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<std::size_t> open_;  ///< offsets of the brackets that are not closed yet
};

}  // namespace

std::optional<ExpressionMistake> check_expression(std::string_view text) {
  return Scanner(text).run();
}

void require_expression(std::string_view text) {
  if (const auto mistake = check_expression(text)) {
    throw CompileError(fmt::format("the expression does not compile\nerror: {}\n{}", mistake->message,
                                   excerpt(text, mistake->offset)),
                       "");
  }
}

TMAJIT_END
