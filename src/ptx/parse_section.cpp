#include "ptx/token_stream.hpp"

TMAJIT_BEGIN
namespace ptx {
namespace {

/// A label or the name of a section, which keeps its dot.
std::string parse_section_symbol(TokenStream& tokens) {
  if (tokens.peek().kind == Token::Kind::word) return ("." + tokens.next().text).str();
  return tokens.expect_identifier("a label");
}

SectionValue parse_value(TokenStream& tokens) {
  SectionValue value;
  if (tokens.peek().kind == Token::Kind::number || tokens.peek().is('-')) {
    value.value = tokens.expect_integer("a number");
    return value;
  }
  value.symbol = parse_section_symbol(tokens);
  if (tokens.peek().is('-') && tokens.peek(1).kind != Token::Kind::number) {
    tokens.next();
    value.minus = parse_section_symbol(tokens);
  } else {
    value.value = tokens.optional_offset();
  }
  return value;
}

}  // namespace

Section parse_section(TokenStream& tokens) {
  Section section;
  section.location = tokens.next().location;
  section.name = parse_section_symbol(tokens);
  tokens.expect('{');
  while (!tokens.accept('}')) {
    SectionLine line;
    if (tokens.peek().kind == Token::Kind::identifier) {
      line.label = tokens.expect_identifier("a label");
      tokens.expect(':');
    } else {
      line.type = tokens.expect_type();
      tokens.comma_list([&] { line.values.push_back(parse_value(tokens)); });
    }
    section.lines.push_back(std::move(line));
  }
  return section;
}

}  // namespace ptx
TMAJIT_END
