#include "ptx/lexer.hpp"

#include <bit>

#include <llvm/ADT/StringExtras.h>

TMAJIT_BEGIN
namespace ptx {
namespace {

bool is_name_start(char c) {
  return llvm::isAlpha(c) || c == '_' || c == '$' || c == '%';
}
bool is_name_part(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '$';
}
bool is_word_part(char c) {
  return llvm::isAlnum(c) || c == '_';
}

class Lexer {
 public:
  explicit Lexer(llvm::StringRef source)
      : cursor_(source.begin()), end_(source.end()), line_begin_(cursor_) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    do {
      skip_blanks();
      tokens.push_back(next());
    } while (tokens.back().kind != Token::Kind::end);
    return tokens;
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return static_cast<std::size_t>(end_ - cursor_) > ahead ? cursor_[ahead] : '\0';
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
        while (cursor_ != end_ && *cursor_ != '\n') ++cursor_;
      } else if (*cursor_ == '/' && peek(1) == '*') {
        skip_block_comment();
      } else {
        return;
      }
    }
  }

  void skip_block_comment() {
    const char* start = cursor_;
    cursor_ += 2;
    while (!(peek() == '*' && peek(1) == '/')) {
      if (cursor_ == end_) throw SyntaxError(start, "this comment is never closed with */");
      if (*cursor_++ == '\n') new_line();
    }
    cursor_ += 2;
  }

  Token make(Token::Kind kind, const char* begin, const char* text_begin, const char* text_end) const {
    Token token;
    token.kind = kind;
    token.begin = begin;
    token.text = llvm::StringRef(text_begin, static_cast<std::size_t>(text_end - text_begin));
    token.location = {line_, static_cast<std::uint32_t>(begin - line_begin_) + 1};
    return token;
  }

  Token next() {
    const char* begin = cursor_;
    if (cursor_ == end_) return make(Token::Kind::end, begin, begin, begin);
    const char c = *cursor_;
    if (is_name_start(c)) {
      ++cursor_;
      while (cursor_ != end_ && is_name_part(*cursor_)) ++cursor_;
      return make(Token::Kind::identifier, begin, begin, cursor_);
    }
    if (c == '.') return word(begin);
    if (llvm::isDigit(c)) return number(begin);
    if (c == '"') return string(begin);
    if (llvm::StringRef("@!{}()[]<>,;:|+-=").contains(c)) {
      ++cursor_;
      return make(Token::Kind::symbol, begin, begin, cursor_);
    }
    throw SyntaxError(begin, llvm::isPrint(c)
                                 ? std::string("unexpected character '") + c + "'"
                                 : "unexpected byte 0x" + llvm::utohexstr(static_cast<unsigned char>(c)));
  }

  Token word(const char* begin) {
    ++cursor_;
    const char* text = cursor_;
    while (is_word_part(peek())) ++cursor_;
    if (cursor_ == text) throw SyntaxError(begin, "expected a directive or modifier after '.'");
    // A modifier's parts: .mbarrier::complete_tx::bytes
    while (peek() == ':' && peek(1) == ':' && is_word_part(peek(2))) {
      cursor_ += 2;
      while (is_word_part(peek())) ++cursor_;
    }
    return make(Token::Kind::word, begin, text, cursor_);
  }

  Token string(const char* begin) {
    ++cursor_;
    const char* text = cursor_;
    while (cursor_ != end_ && *cursor_ != '"' && *cursor_ != '\n') {
      if (*cursor_ == '\\' && peek(1) != '\0' && peek(1) != '\n') ++cursor_;
      ++cursor_;
    }
    if (peek() != '"') throw SyntaxError(begin, "this string is never closed with \"");
    Token token = make(Token::Kind::string, begin, text, cursor_);
    ++cursor_;
    return token;
  }

  Token number(const char* begin) {
    while (is_word_part(peek())) ++cursor_;
    // A decimal fraction or exponent; 0x… has none.
    llvm::StringRef text(begin, static_cast<std::size_t>(cursor_ - begin));
    bool decimal = false;
    if (text.find_first_not_of("0123456789") == llvm::StringRef::npos && peek() == '.' &&
        llvm::isDigit(peek(1))) {
      decimal = true;
      ++cursor_;
      while (is_word_part(peek())) ++cursor_;
      text = llvm::StringRef(begin, static_cast<std::size_t>(cursor_ - begin));
    }
    const auto prefix = text.take_front(2).lower();
    if (prefix != "0x" && prefix != "0f" && prefix != "0d" && text.contains_insensitive('e')) {
      decimal = true;
      if (text.back() == 'e' || text.back() == 'E') {
        if (peek() == '+' || peek() == '-') ++cursor_;
        while (llvm::isDigit(peek())) ++cursor_;
      }
    }
    Token token = make(Token::Kind::number, begin, begin, cursor_);
    token.value = decimal ? decimal_value(token.text, begin) : literal_value(token.text, begin);
    return token;
  }

  static Immediate decimal_value(llvm::StringRef text, const char* begin) {
    double value = 0;
    if (text.getAsDouble(value)) throw SyntaxError(begin, "'" + text.str() + "' is not a number");
    return {Immediate::Kind::f64, std::bit_cast<std::uint64_t>(value)};
  }

  static Immediate literal_value(llvm::StringRef text, const char* begin) {
    const auto bad = [&](const char* why) { return SyntaxError(begin, "'" + text.str() + "' " + why); };
    Immediate value;
    if (const auto prefix = text.take_front(2).lower(); prefix == "0f" || prefix == "0d") {
      const bool single = text[1] == 'f' || text[1] == 'F';
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
};

}  // namespace

std::vector<Token> tokenize(llvm::StringRef source) {
  return Lexer(source).run();
}

}  // namespace ptx
TMAJIT_END
