#include "ptx/token_stream.hpp"

#include <bit>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>

TMAJIT_BEGIN
namespace ptx {
namespace {

constexpr std::size_t max_errors = 20;

std::string describe(const Token& token) {
  switch (token.kind) {
    case Token::Kind::end: return "the end of the text";
    case Token::Kind::word: return ("'." + token.text + "'").str();
    case Token::Kind::string: return "a string";
    default: return ("'" + token.text.take_front(64) + "'").str();
  }
}

bool is_float(const Immediate& value) {
  return value.kind == Immediate::Kind::f32 || value.kind == Immediate::Kind::f64;
}
std::uint64_t sign_bit(Immediate::Kind kind) {
  return std::uint64_t{1} << (kind == Immediate::Kind::f32 ? 31 : 63);
}

bool is_name_part(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '$';
}
bool is_word_part(char c) {
  return llvm::isAlnum(c) || c == '_';
}

/// The letter after the zero in 0x, 0f and 0d, in lower case; else 0.
char prefix_of(llvm::StringRef number) {
  return number.size() > 1 && number[0] == '0' ? llvm::toLower(number[1]) : '\0';
}

class Lexer {
 public:
  /// Skips zeros at the end: NVRTC's size includes one, and programs write it into their files.
  explicit Lexer(llvm::StringRef text)
      : cursor_(text.begin()), end_(text.rtrim('\0').end()), line_begin_(cursor_) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    do {
      skip_blanks();
      start_ = {line_, static_cast<std::uint32_t>(cursor_ - line_begin_) + 1};
      tokens.push_back(next(cursor_));
    } while (tokens.back().kind != Token::Kind::end);
    return tokens;
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return static_cast<std::size_t>(end_ - cursor_) > ahead ? cursor_[ahead] : '\0';
  }
  [[nodiscard]] SyntaxError error(const std::string& message) const { return {start_, message}; }

  void skip(bool (*part)(char)) {
    while (cursor_ != end_ && part(*cursor_)) ++cursor_;
  }
  void new_line() {
    ++line_;
    line_begin_ = cursor_;
  }

  void skip_blanks() {
    while (cursor_ != end_) {
      if (*cursor_ == '\n') {
        ++cursor_;
        new_line();
      } else if (llvm::isSpace(*cursor_)) {
        ++cursor_;
      } else if (*cursor_ == '/' && peek(1) == '/') {
        skip([](char c) { return c != '\n'; });
      } else if (*cursor_ == '/' && peek(1) == '*') {
        skip_block_comment();
      } else {
        return;
      }
    }
  }

  void skip_block_comment() {
    start_ = {line_, static_cast<std::uint32_t>(cursor_ - line_begin_) + 1};
    cursor_ += 2;
    while (!(peek() == '*' && peek(1) == '/')) {
      if (cursor_ == end_) throw error("this comment is never closed with */");
      if (*cursor_++ == '\n') new_line();
    }
    cursor_ += 2;
  }

  [[nodiscard]] Token make(Token::Kind kind, const char* begin) const {
    return {kind, llvm::StringRef(begin, static_cast<std::size_t>(cursor_ - begin)), {}, start_};
  }

  Token next(const char* begin) {
    if (cursor_ == end_) return make(Token::Kind::end, begin);
    const char c = *cursor_++;
    if (c == '%' || (is_name_part(c) && !llvm::isDigit(c))) {
      skip(is_name_part);
      return make(Token::Kind::identifier, begin);
    }
    if (c == '.') return word();
    if (llvm::isDigit(c)) return number(begin);
    if (c == '"') return string();
    if (llvm::StringRef("@!{}()[]<>,;:|+-=").contains(c)) return make(Token::Kind::symbol, begin);
    throw error(llvm::isPrint(c) ? std::string("unexpected character '") + c + "'"
                                 : "unexpected byte 0x" + llvm::utohexstr(static_cast<unsigned char>(c)));
  }

  Token word() {
    const char* text = cursor_;
    skip(is_word_part);
    if (cursor_ == text) throw error("expected a directive or modifier after '.'");
    // A modifier may have parts: .mbarrier::complete_tx::bytes
    while (peek() == ':' && peek(1) == ':' && is_word_part(peek(2))) {
      cursor_ += 2;
      skip(is_word_part);
    }
    return make(Token::Kind::word, text);
  }

  Token string() {
    const char* text = cursor_;
    while (cursor_ != end_ && *cursor_ != '"' && *cursor_ != '\n') {
      if (*cursor_ == '\\' && peek(1) != '\0' && peek(1) != '\n') ++cursor_;
      ++cursor_;
    }
    if (peek() != '"') throw error("this string is never closed with \"");
    const Token token = make(Token::Kind::string, text);
    ++cursor_;
    return token;
  }

  Token number(const char* begin) {
    skip(is_word_part);
    // A decimal fraction or an exponent, which numbers such as 0x… do not have.
    llvm::StringRef text = make(Token::Kind::number, begin).text;
    bool decimal = false;
    if (llvm::all_of(text, llvm::isDigit) && peek() == '.' && llvm::isDigit(peek(1))) {
      decimal = true;
      ++cursor_;
      skip(is_word_part);
      text = make(Token::Kind::number, begin).text;
    }
    const char prefix = prefix_of(text);
    if (prefix != 'x' && prefix != 'f' && prefix != 'd' && text.find_first_of("eE") != text.npos) {
      decimal = true;
      if (text.back() == 'e' || text.back() == 'E') {
        if (peek() == '+' || peek() == '-') ++cursor_;
        skip(llvm::isDigit);
      }
    }
    Token token = make(Token::Kind::number, begin);
    token.value = decimal ? decimal_value(token.text) : literal_value(token.text);
    return token;
  }

  [[nodiscard]] Immediate decimal_value(llvm::StringRef text) const {
    double value = 0;
    if (text.getAsDouble(value)) throw error("'" + text.str() + "' is not a number");
    return {Immediate::Kind::f64, std::bit_cast<std::uint64_t>(value)};
  }

  [[nodiscard]] Immediate literal_value(llvm::StringRef text) const {
    const auto bad = [&](const char* why) { return error("'" + text.str() + "' " + why); };
    Immediate value;
    if (const char prefix = prefix_of(text); prefix == 'f' || prefix == 'd') {
      const bool single = prefix == 'f';
      value.kind = single ? Immediate::Kind::f32 : Immediate::Kind::f64;
      if (text.size() != (single ? 10U : 18U) || text.drop_front(2).getAsInteger(16, value.bits)) {
        throw bad(single ? "is no f32: 0f and 8 hexadecimal digits"
                         : "is no f64: 0d and 16 hexadecimal digits");
      }
      return value;
    }
    llvm::StringRef digits = text;
    if (digits.consume_back("U")) value.kind = Immediate::Kind::unsigned_;
    const bool octal = digits.size() > 1 && digits[0] == '0' && llvm::isDigit(digits[1]);
    unsigned radix = octal ? 8 : 10;
    if (digits.consume_front_insensitive("0x")) radix = 16;
    if (digits.consume_front_insensitive("0b")) radix = 2;
    if (digits.getAsInteger(radix, value.bits)) throw bad("is no integer of at most 64 bits");
    return value;
  }

  const char* cursor_;
  const char* end_;
  const char* line_begin_;
  std::uint32_t line_ = 1;
  Location start_;  ///< location of the token or comment being read
};

}  // namespace

TokenStream::TokenStream(llvm::StringRef text, std::vector<Diagnostic>& errors)
    : tokens_(Lexer(text).run()), errors_(errors) {}

void TokenStream::fail_expected(const llvm::Twine& expected) const {
  fail(peek(), "expected " + expected + ", found " + describe(peek()));
}

void TokenStream::expect(char symbol) {
  if (!accept(symbol)) fail_expected(llvm::Twine("'") + llvm::Twine(symbol) + "'");
}

std::string TokenStream::expect_text(Token::Kind kind, const char* what) {
  if (peek().kind != kind) fail_expected(what);
  return next().text.str();
}

std::vector<std::string> TokenStream::identifiers(const char* what) {
  std::vector<std::string> names;
  comma_list([&] { names.push_back(expect_identifier(what)); });
  return names;
}

ScalarType TokenStream::expect_type() {
  if (peek().kind == Token::Kind::word) {
    if (const auto type = parse_scalar_type(peek().text)) {
      next();
      return *type;
    }
  }
  fail_expected("a type such as .b32");
}

std::uint64_t TokenStream::expect_count(const char* what) {
  if (peek().kind != Token::Kind::number || is_float(peek().value)) fail_expected(what);
  return next().value.bits;
}

Immediate TokenStream::expect_immediate() {
  const bool negative = accept('-');
  if (peek().kind != Token::Kind::number) fail_expected("a number");
  Immediate value = next().value;
  if (!negative) return value;
  value.bits = is_float(value) ? value.bits ^ sign_bit(value.kind) : 0 - value.bits;
  return value;
}

std::int64_t TokenStream::expect_integer(const char* what) {
  const bool negative = accept('-');
  const std::uint64_t magnitude = expect_count(what);
  return static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
}

std::int64_t TokenStream::optional_offset() {
  if (accept('+') || peek().is('-')) return expect_integer("an offset");
  return 0;
}

void TokenStream::record(const SyntaxError& error) {
  if (errors_.size() + 1 == max_errors) throw error;
  errors_.push_back({error.where, error.what()});
}

void TokenStream::skip_statement() {
  unsigned open = 0;
  while (peek().kind != Token::Kind::end) {
    if (peek().is('}') && open == 0) return;
    const Token& token = next();
    if (token.is(';') && open == 0) return;
    if (token.is('{')) ++open;
    if (token.is('}')) --open;
  }
}

}  // namespace ptx
TMAJIT_END
