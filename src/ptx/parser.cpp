#include "ptx/parser.hpp"

#include "ptx/printer.hpp"
#include "ptx/token_stream.hpp"

TMAJIT_BEGIN
namespace ptx {
namespace {

constexpr std::size_t max_text = std::size_t{1} << 30;

void parse_header(TokenStream& tokens, Module& module) {
  if (!tokens.accept_word("version")) tokens.fail_expected("'.version' as the first directive");
  const Token& version = tokens.peek();
  const auto [major, minor] = version.text.split('.');
  if (version.kind != Token::Kind::number || major.getAsInteger(10, module.version_major) ||
      minor.getAsInteger(10, module.version_minor)) {
    tokens.fail_expected("a version such as 8.3");
  }
  tokens.next();
  if (!tokens.accept_word("target")) tokens.fail_expected("'.target'");
  module.targets = tokens.identifiers("a target such as sm_90a");
  if (tokens.accept_word("address_size")) module.address_size = tokens.expect_count("32 or 64");
}

File parse_file(TokenStream& tokens) {
  File file;
  file.location = tokens.next().location;
  file.index = tokens.expect_count("a file number");
  file.name = tokens.expect_string("a file name");
  if (tokens.accept(',')) {
    file.time = tokens.expect_count("a time");
    if (tokens.accept(',')) file.size = tokens.expect_count("a size");
  }
  return file;
}

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
      // Reserves memory for the values: most are numbers of one token, each followed by a comma.
      std::size_t count = 1;
      while (tokens.peek(static_cast<std::ptrdiff_t>(2 * count - 1)).is(',')) ++count;
      line.values.reserve(count);
      tokens.comma_list([&] { line.values.push_back(parse_value(tokens)); });
    }
    section.lines.push_back(std::move(line));
  }
  return section;
}

Linkage parse_linkage(TokenStream& tokens) {
  if (tokens.accept_word("extern")) return Linkage::extern_;
  if (tokens.accept_word("visible")) return Linkage::visible;
  if (tokens.accept_word("weak")) return Linkage::weak;
  return tokens.accept_word("common") ? Linkage::common : Linkage::none;
}

Function parse_function(TokenStream& tokens, Linkage linkage) {
  Function function;
  function.location = tokens.peek().location;
  function.linkage = linkage;
  function.is_entry = tokens.next().text == "entry";
  function.attributes = parse_attributes(tokens);
  function.results = parse_parameter_list(tokens);
  function.name = tokens.expect_identifier("the name of a function");
  function.parameters = parse_parameter_list(tokens);
  function.tuning = parse_tuning(tokens);
  if (!tokens.accept(';')) function.body = parse_block(tokens);
  return function;
}

Alias parse_alias(TokenStream& tokens) {
  Alias alias;
  alias.location = tokens.next().location;
  alias.name = tokens.expect_identifier("a function");
  tokens.expect(',');
  alias.target = tokens.expect_identifier("a function");
  tokens.expect(';');
  return alias;
}

void parse_directive(TokenStream& tokens, std::vector<Directive>& directives) {
  const Token& token = tokens.peek();
  if (token.is_word("file")) return void(directives.emplace_back(parse_file(tokens)));
  if (token.is_word("section")) return void(directives.emplace_back(parse_section(tokens)));
  if (token.is_word("pragma")) return void(directives.emplace_back(parse_pragma(tokens)));
  if (token.is_word("alias")) return void(directives.emplace_back(parse_alias(tokens)));
  const Linkage linkage = parse_linkage(tokens);
  if (tokens.peek().is_word("entry") || tokens.peek().is_word("func"))
    return void(directives.emplace_back(parse_function(tokens, linkage)));
  if (tokens.peek().kind != Token::Kind::word || !parse_state_space(tokens.peek().text))
    tokens.fail_expected("a function, a variable or another directive");
  for (Variable& variable : parse_variables(tokens, linkage)) directives.emplace_back(std::move(variable));
  tokens.expect(';');
}

}  // namespace

ParseResult parse(std::string_view text, std::string_view name) {
  ParseResult result;
  try {
    if (text.size() > max_text) throw SyntaxError({}, "PTX of more than 1 GiB");
    Module module;
    TokenStream tokens(text, result.diagnostics);
    parse_header(tokens, module);
    while (tokens.peek().kind != Token::Kind::end) parse_directive(tokens, module.directives);
    if (result.diagnostics.empty()) result.module = std::move(module);
  } catch (const SyntaxError& error) {
    result.diagnostics.push_back({error.where, error.what()});
  }
  for (const std::string& error : print(result.diagnostics, text, name)) result.report += error;
  return result;
}

}  // namespace ptx
TMAJIT_END
