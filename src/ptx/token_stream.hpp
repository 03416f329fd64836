#pragma once

#include "ptx/parser.hpp"

#include <stdexcept>

#include <llvm/ADT/StringRef.h>
#include <llvm/ADT/Twine.h>

TMAJIT_BEGIN
namespace ptx {

/// A token; `text` points into the source.
struct Token {
  enum class Kind : std::uint8_t {
    end,
    identifier,  ///< add, %r1, $L__BB0_2, _
    word,        ///< .u32, .shared::cluster, .2d; text is without the dot
    number,      ///< a literal
    string,      ///< "…"; text is without the quotes
    symbol,      ///< one of @ ! { } ( ) [ ] < > , ; : | + - =
  };
  llvm::StringRef text;
  Location location;
  std::uint32_t literal = 0;  ///< a number's index among the literals of the text
  Kind kind = Kind::end;

  [[nodiscard]] bool is(char symbol) const { return kind == Kind::symbol && text[0] == symbol; }
  [[nodiscard]] bool is_word(llvm::StringRef word) const { return kind == Kind::word && text == word; }
  /// Whether `next`, a word, follows with nothing between, as .x follows %tid.
  [[nodiscard]] bool touches(const Token& next) const { return text.end() + 1 == next.text.begin(); }
};

/// A syntax error, with its location.
class SyntaxError : public std::runtime_error {
 public:
  SyntaxError(Location place, const std::string& message) : std::runtime_error(message), where(place) {}
  Location where;
};

/// The tokens of a text, read one by one.
class TokenStream {
 public:
  /// Splits `text` into tokens; throws SyntaxError. record() appends to `errors`.
  TokenStream(llvm::StringRef text, std::vector<Diagnostic>& errors);

  [[nodiscard]] const Token& peek() const { return *next_; }
  [[nodiscard]] const Token& peek(std::ptrdiff_t ahead) const {
    return next_[std::min(ahead, &tokens_.back() - next_)];
  }
  const Token& next() {
    const Token& token = *next_;
    if (token.kind != Token::Kind::end) ++next_;
    return token;
  }

  /// The token that next() returned last. next() must have been called.
  [[nodiscard]] const Token& last() const { return next_[-1]; }
  /// Makes `token`, which next() or peek() has returned, the next one.
  void go_back(const Token& token) { next_ = &token; }

  bool accept(char symbol) { return accept_if(peek().is(symbol)); }
  bool accept_word(llvm::StringRef word) { return accept_if(peek().is_word(word)); }
  void expect(char symbol);
  std::string expect_identifier(const char* what) { return expect_text(Token::Kind::identifier, what); }
  std::string expect_string(const char* what) { return expect_text(Token::Kind::string, what); }
  ScalarType expect_type();
  /// A non-negative integer.
  std::uint64_t expect_count(const char* what);
  /// A literal with an optional minus.
  Immediate expect_immediate();
  /// An integer with an optional minus.
  std::int64_t expect_integer(const char* what);
  /// `+4`, `-4`, `+-4`, or nothing.
  std::int64_t optional_offset();

  /// Calls `item` for items separated by commas.
  template <class Item>
  void comma_list(const Item& item) {
    do item();
    while (accept(','));
  }
  /// Calls `item` for items separated by commas between `open` and `close`; the list may be empty.
  template <class Item>
  void enclosed_list(char open, char close, const Item& item) {
    expect(open);
    if (accept(close)) return;
    comma_list(item);
    expect(close);
  }
  std::vector<std::string> identifiers(const char* what);

  [[noreturn]] static void fail(const Token& at, const llvm::Twine& message) {
    throw SyntaxError(at.location, message.str());
  }
  /// "expected …, found …" at the next token.
  [[noreturn]] void fail_expected(const llvm::Twine& expected) const;

  /// Stores an error so that parsing can continue. Throws the 20th error (max_errors) instead.
  void record(const SyntaxError& error);
  /// Skips the rest of a faulty statement: past its ';', or up to the '}' that ends its block.
  void skip_statement();

 private:
  std::string expect_text(Token::Kind kind, const char* what);
  /// The value of a token that is a number.
  [[nodiscard]] const Immediate& value_of(const Token& number) const { return literals_[number.literal]; }
  bool accept_if(bool condition) {
    if (condition) ++next_;
    return condition;
  }

  std::vector<Token> tokens_;  ///< the last one is the end
  std::vector<Immediate> literals_;
  const Token* next_ = nullptr;
  std::vector<Diagnostic>& errors_;
};

/// The variables of one declaration, from its linkage or space on. Does not consume the ';'.
std::vector<Variable> parse_variables(TokenStream& tokens, Linkage linkage);
/// The parameters of a function or call prototype, in parentheses; empty if there are no parentheses.
std::vector<Variable> parse_parameter_list(TokenStream& tokens);
std::vector<Tuning> parse_tuning(TokenStream& tokens);
std::vector<std::string> parse_attributes(TokenStream& tokens);
RegisterDeclaration parse_registers(TokenStream& tokens);
Pragma parse_pragma(TokenStream& tokens);
/// `{ … }` with the statements of a function.
Block parse_block(TokenStream& tokens, unsigned depth = 0);

}  // namespace ptx
TMAJIT_END
