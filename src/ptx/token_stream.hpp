#pragma once

#include "ptx/lexer.hpp"
#include "ptx/parser.hpp"

#include <functional>

#include <llvm/ADT/Twine.h>

TMAJIT_BEGIN
namespace ptx {

/// An error with the place its caret points to.
struct LocatedError {
  const char* where;
  std::string message;
};

/// The tokens of a text, read one by one, and the errors met on the way.
class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  [[nodiscard]] const Token& peek(std::size_t ahead = 0) const {
    return tokens_[std::min(position_ + ahead, tokens_.size() - 1)];
  }
  const Token& next() {
    const Token& token = peek();
    if (token.kind != Token::Kind::end) ++position_;
    return token;
  }

  bool accept(char symbol) { return accept_if(peek().is(symbol)); }
  bool accept_word(llvm::StringRef word) { return accept_if(peek().is_word(word)); }
  void expect(char symbol);
  std::string expect_identifier(const char* what);
  std::string expect_string(const char* what);
  ScalarType expect_type();
  /// A non-negative integer.
  std::uint64_t expect_count(const char* what);
  /// A literal with an optional minus.
  Immediate expect_immediate();
  /// The same, an integer.
  std::int64_t expect_integer(const char* what);
  /// `+4`, `-4`, `+-4`, or nothing.
  std::int64_t optional_offset();

  /// Calls `item` for items separated by commas.
  void comma_list(const std::function<void()>& item) {
    do item();
    while (accept(','));
  }

  [[noreturn]] void fail(const Token& at, const llvm::Twine& message) const;
  /// "expected …, found …" at the next token.
  [[noreturn]] void fail_expected(const llvm::Twine& expected) const;

  /// Keeps an error and goes on; throws once there are too many.
  void record(const char* where, std::string message);
  [[nodiscard]] const std::vector<LocatedError>& errors() const { return errors_; }
  /// Skips the rest of a faulty statement: past its ';', or up to the '}' that ends its block.
  void skip_statement();

 private:
  bool accept_if(bool condition) {
    if (condition) ++position_;
    return condition;
  }

  std::vector<Token> tokens_;
  std::size_t position_ = 0;
  std::vector<LocatedError> errors_;
};

/// Thrown by record() when a text has so many errors that more would not help.
class TooManyErrors : public std::exception {};

Operand parse_operand(TokenStream& tokens);
/// The variables of one declaration, from its linkage or space on; the ';' is left.
std::vector<Variable> parse_variables(TokenStream& tokens, Linkage linkage);
/// A parameter of a function or call prototype.
Variable parse_parameter(TokenStream& tokens);
std::vector<Variable> parse_parameter_list(TokenStream& tokens);
std::vector<Tuning> parse_tuning(TokenStream& tokens);
std::vector<std::string> parse_attributes(TokenStream& tokens);
RegisterDeclaration parse_registers(TokenStream& tokens);
Pragma parse_pragma(TokenStream& tokens);
/// `{ … }` with the statements of a function.
Block parse_block(TokenStream& tokens, unsigned depth = 0);
Section parse_section(TokenStream& tokens);

}  // namespace ptx
TMAJIT_END
