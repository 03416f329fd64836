#include "ptx/token_stream.hpp"

#include <array>
#include <bit>
#include <charconv>

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

/// The roles that a character can have, as bits.
struct CharRole {
  static constexpr std::uint8_t blank = 1;
  static constexpr std::uint8_t digit = 2;
  static constexpr std::uint8_t word = 4;     ///< part of .u32
  static constexpr std::uint8_t name = 8;     ///< part of $L__BB0_2
  static constexpr std::uint8_t symbol = 16;  ///< a token of its own
};

constexpr std::array<std::uint8_t, 256> char_roles = [] {
  std::array<std::uint8_t, 256> roles{};
  const auto add = [&](std::string_view chars, std::uint8_t role) {
    for (const char c : chars) roles[static_cast<unsigned char>(c)] |= role;
  };
  add(" \t\n\v\f\r", CharRole::blank);
  add("0123456789", CharRole::digit | CharRole::word | CharRole::name);
  add("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", CharRole::word | CharRole::name);
  add("$", CharRole::name);
  add("@!{}()[]<>,;:|+-=", CharRole::symbol);
  return roles;
}();

bool has_role(char c, std::uint8_t role) {
  return (char_roles[static_cast<unsigned char>(c)] & role) != 0;
}

/// The letter after the zero in 0x, 0f and 0d, in lower case; else 0.
char prefix_of(llvm::StringRef number) {
  return number.size() > 1 && number[0] == '0' ? llvm::toLower(number[1]) : '\0';
}

class Lexer {
 public:
  /// Skips zeros at the end: NVRTC's size includes one, and programs write it into their files.
  Lexer(llvm::StringRef text, std::vector<Token>& tokens, std::vector<Immediate>& literals)
      : cursor_(text.begin()),
        end_(text.rtrim('\0').end()),
        line_begin_(cursor_),
        tokens_(tokens),
        literals_(literals) {}

  void run() {
    // A token of an instruction has some three characters.
    tokens_.reserve(static_cast<std::size_t>(end_ - cursor_) / 3);
    do {
      skip_blanks();
      start_ = {line_, static_cast<std::uint32_t>(cursor_ - line_begin_) + 1};
      tokens_.push_back(next(cursor_));
    } while (tokens_.back().kind != Token::Kind::end);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return static_cast<std::size_t>(end_ - cursor_) > ahead ? cursor_[ahead] : '\0';
  }
  [[nodiscard]] SyntaxError error(const std::string& message) const { return {start_, message}; }

  void skip(std::uint8_t role) {
    while (cursor_ != end_ && has_role(*cursor_, role)) ++cursor_;
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
      } else if (has_role(*cursor_, CharRole::blank)) {
        ++cursor_;
      } else if (*cursor_ == '/' && peek(1) == '/') {
        cursor_ = std::find(cursor_, end_, '\n');
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
    return {llvm::StringRef(begin, static_cast<std::size_t>(cursor_ - begin)), start_, 0, kind};
  }

  Token next(const char* begin) {
    if (cursor_ == end_) return make(Token::Kind::end, begin);
    const char c = *cursor_++;
    if (has_role(c, CharRole::symbol)) return make(Token::Kind::symbol, begin);
    if (c == '.') return word();
    if (has_role(c, CharRole::digit)) return number(begin);
    if (c == '%' || has_role(c, CharRole::name)) {
      skip(CharRole::name);
      return make(Token::Kind::identifier, begin);
    }
    if (c == '"') return string();
    throw error(llvm::isPrint(c) ? std::string("unexpected character '") + c + "'"
                                 : "unexpected byte 0x" + llvm::utohexstr(static_cast<unsigned char>(c)));
  }

  Token word() {
    const char* text = cursor_;
    skip(CharRole::word);
    if (cursor_ == text) throw error("expected a directive or modifier after '.'");
    // A modifier may have parts: .mbarrier::complete_tx::bytes
    while (peek() == ':' && peek(1) == ':' && has_role(peek(2), CharRole::word)) {
      cursor_ += 2;
      skip(CharRole::word);
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
    skip(CharRole::digit);
    // Whether the number has a decimal fraction or an exponent.
    bool decimal = peek() == '.' && has_role(peek(1), CharRole::digit);
    if (decimal) ++cursor_;
    const bool is_plain = !decimal && !has_role(peek(), CharRole::word);
    skip(CharRole::word);
    const llvm::StringRef text = make(Token::Kind::number, begin).text;
    const char prefix = prefix_of(text);
    if (!is_plain && prefix != 'x' && prefix != 'f' && prefix != 'd' &&
        text.find_first_of("eE") != text.npos) {
      decimal = true;
      if (text.back() == 'e' || text.back() == 'E') {
        if (peek() == '+' || peek() == '-') ++cursor_;
        skip(CharRole::digit);
      }
    }
    Token token = make(Token::Kind::number, begin);
    token.literal = static_cast<std::uint32_t>(literals_.size());
    literals_.push_back(decimal ? decimal_value(token.text) : literal_value(token.text));
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
    int radix = 10;
    if (const char prefix = prefix_of(digits); prefix == 'x' || prefix == 'b') {
      digits = digits.drop_front(2);
      radix = prefix == 'x' ? 16 : 2;
    } else if (has_role(prefix, CharRole::digit)) {
      radix = 8;
    }
    const auto [rest, fault] = std::from_chars(digits.begin(), digits.end(), value.bits, radix);
    if (fault != std::errc() || rest != digits.end()) throw bad("is no integer of at most 64 bits");
    return value;
  }

  const char* cursor_;
  const char* end_;
  const char* line_begin_;
  std::vector<Token>& tokens_;
  std::vector<Immediate>& literals_;
  std::uint32_t line_ = 1;
  Location start_;  ///< location of the token or comment being read
};

}  // namespace

TokenStream::TokenStream(llvm::StringRef text, std::vector<Diagnostic>& errors) : errors_(errors) {
  Lexer(text, tokens_, literals_).run();
  next_ = tokens_.data();
}

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
  if (peek().kind != Token::Kind::number || is_float(value_of(peek()))) fail_expected(what);
  return value_of(next()).bits;
}

Immediate TokenStream::expect_immediate() {
  const bool negative = accept('-');
  if (peek().kind != Token::Kind::number) fail_expected("a number");
  Immediate value = value_of(next());
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
