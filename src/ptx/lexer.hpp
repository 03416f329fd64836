#pragma once

#include "ptx/ast.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <llvm/ADT/StringRef.h>

TMAJIT_BEGIN
namespace ptx {

/// A token; `text` points into the source.
struct Token {
  enum class Kind : std::uint8_t {
    end,
    identifier,  ///< add, %r1, $L__BB0_2, _
    word,        ///< .u32, .shared::cluster, .2d; text is without the dot
    number,      ///< a literal; `value`
    string,      ///< "…"; text is without the quotes
    symbol,      ///< one of @ ! { } ( ) [ ] < > , ; : | + - =
  };
  Kind kind = Kind::end;
  llvm::StringRef text;
  Immediate value;
  const char* begin = nullptr;  ///< where the caret goes
  Location location;

  [[nodiscard]] bool is(char symbol) const { return kind == Kind::symbol && text[0] == symbol; }
  [[nodiscard]] bool is_word(llvm::StringRef word) const { return kind == Kind::word && text == word; }
  /// Whether `next` follows with nothing between, as .x follows %tid.
  [[nodiscard]] bool touches(const Token& next) const { return text.end() == next.begin; }
};

/// What was wrong and the place in the source text where it stood.
class SyntaxError : public std::runtime_error {
 public:
  SyntaxError(const char* where, const std::string& message) : std::runtime_error(message), where_(where) {}
  [[nodiscard]] const char* where() const noexcept { return where_; }

 private:
  const char* where_;
};

/// Splits `source` into tokens, an `end` token last. Throws SyntaxError.
[[nodiscard]] std::vector<Token> tokenize(llvm::StringRef source);

}  // namespace ptx
TMAJIT_END
