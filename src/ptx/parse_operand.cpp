#include "ptx/token_stream.hpp"

TMAJIT_BEGIN
namespace ptx {
namespace {

Operand make(Operand::Kind kind, const Token& token) {
  Operand operand;
  operand.kind = kind;
  operand.location = token.location;
  return operand;
}

/// name or name.component
Operand parse_symbol(TokenStream& tokens) {
  const Token& token = tokens.peek();
  if (token.kind == Token::Kind::identifier && token.text == "_") {
    tokens.next();
    return make(Operand::Kind::sink, token);
  }
  Operand symbol = make(Operand::Kind::symbol, token);
  symbol.name = tokens.expect_identifier("a register, symbol or number");
  const Token& component = tokens.peek();
  if (component.kind == Token::Kind::word && token.touches(component)) {
    symbol.component = tokens.next().text.str();
  }
  return symbol;
}

/// A symbol, _ or literal: what may stand in a vector.
Operand parse_scalar(TokenStream& tokens) {
  const Token& token = tokens.peek();
  if (token.kind != Token::Kind::number && !token.is('-')) return parse_symbol(tokens);
  Operand literal = make(Operand::Kind::immediate, token);
  literal.value = tokens.expect_immediate();
  return literal;
}

void parse_elements(TokenStream& tokens, Operand& list, char close) {
  if (tokens.accept(close)) return;
  tokens.comma_list([&] { list.elements.push_back(parse_scalar(tokens)); });
  tokens.expect(close);
}

/// [symbol + offset], [offset] or [map, {coordinates}]
Operand parse_address(TokenStream& tokens) {
  Operand address = make(Operand::Kind::address, tokens.peek());
  tokens.expect('[');
  if (tokens.peek().kind == Token::Kind::identifier) {
    address.elements.push_back(parse_symbol(tokens));
    address.offset = tokens.optional_offset();
  } else {
    address.offset = tokens.expect_integer("an address");
  }
  if (tokens.peek().is(',')) {
    if (address.elements.empty() || address.offset != 0) tokens.fail_expected("']'");
    tokens.next();
    address.kind = Operand::Kind::tensor;
    tokens.expect('{');
    parse_elements(tokens, address, '}');
  }
  tokens.expect(']');
  return address;
}

}  // namespace

Operand parse_operand(TokenStream& tokens) {
  const Token& token = tokens.peek();
  if (token.is('[')) return parse_address(tokens);
  if (tokens.accept('{')) {
    Operand vector = make(Operand::Kind::vector, token);
    parse_elements(tokens, vector, '}');
    return vector;
  }
  if (tokens.accept('(')) {
    Operand tuple = make(Operand::Kind::tuple, token);
    parse_elements(tokens, tuple, ')');
    return tuple;
  }
  if (tokens.accept('!')) {
    Operand negated = make(Operand::Kind::negated, token);
    negated.name = tokens.expect_identifier("a predicate");
    return negated;
  }
  Operand scalar = parse_scalar(tokens);
  if (scalar.kind == Operand::Kind::symbol) scalar.offset = tokens.optional_offset();
  if (!tokens.peek().is('|') || scalar.kind == Operand::Kind::immediate) return scalar;
  tokens.next();
  Operand pair = make(Operand::Kind::pair, token);
  pair.elements.push_back(std::move(scalar));
  pair.elements.push_back(parse_symbol(tokens));
  return pair;
}

}  // namespace ptx
TMAJIT_END
