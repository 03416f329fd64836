#include "ptx/token_stream.hpp"

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

constexpr std::uint64_t sign_bit(Immediate::Kind kind) {
  return std::uint64_t{1} << (kind == Immediate::Kind::f32 ? 31 : 63);
}

}  // namespace

void TokenStream::fail(const Token& at, const llvm::Twine& message) const {
  throw SyntaxError(at.begin, message.str());
}

void TokenStream::fail_expected(const llvm::Twine& expected) const {
  fail(peek(), "expected " + expected + ", found " + describe(peek()));
}

void TokenStream::expect(char symbol) {
  if (!accept(symbol)) fail_expected(llvm::Twine("'") + llvm::Twine(symbol) + "'");
}

std::string TokenStream::expect_identifier(const char* what) {
  if (peek().kind != Token::Kind::identifier) fail_expected(what);
  return next().text.str();
}

std::string TokenStream::expect_string(const char* what) {
  if (peek().kind != Token::Kind::string) fail_expected(what);
  return next().text.str();
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
  const Token& token = peek();
  if (token.kind != Token::Kind::number ||
      (token.value.kind != Immediate::Kind::integer && token.value.kind != Immediate::Kind::unsigned_)) {
    fail_expected(what);
  }
  return next().value.bits;
}

Immediate TokenStream::expect_immediate() {
  const bool negative = accept('-');
  if (peek().kind != Token::Kind::number) fail_expected("a number");
  Immediate value = next().value;
  if (!negative) return value;
  const bool floating = value.kind == Immediate::Kind::f32 || value.kind == Immediate::Kind::f64;
  value.bits = floating ? value.bits ^ sign_bit(value.kind) : 0 - value.bits;
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

void TokenStream::record(const char* where, std::string message) {
  errors_.push_back({where, std::move(message)});
  if (errors_.size() >= max_errors) throw TooManyErrors();
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
