#include "ptx/forms.hpp"
#include "ptx/token_stream.hpp"

TMAJIT_BEGIN
namespace ptx {
namespace {

constexpr unsigned max_block_depth = 64;
/// Limits above the longest instruction of the ISA. They bound the search for a form.
constexpr std::size_t max_words = 24;
constexpr std::size_t max_operands = 16;

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

void parse_elements(TokenStream& tokens, Operand& list, char open, char close) {
  tokens.enclosed_list(open, close, [&] { list.elements.push_back(parse_scalar(tokens)); });
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
    parse_elements(tokens, address, '{', '}');
  }
  tokens.expect(']');
  return address;
}

Operand parse_operand(TokenStream& tokens) {
  const Token& token = tokens.peek();
  if (token.is('[')) return parse_address(tokens);
  if (token.is('{') || token.is('(')) {
    const bool braces = token.is('{');
    Operand list = make(braces ? Operand::Kind::vector : Operand::Kind::tuple, token);
    parse_elements(tokens, list, braces ? '{' : '(', braces ? '}' : ')');
    return list;
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

void set_fault(Instruction& instruction, Location location, const llvm::Twine& fault) {
  instruction.opcode = Opcode::unknown;
  instruction.fault_location = location;
  instruction.fault = fault.str();
}

/// The tokens of an instruction's words.
using Words = llvm::SmallVector<const Token*, 8>;

/// Finds the form of the instruction with these words.
void classify(Instruction& instruction, const Words& word_tokens, const Token& end) {
  llvm::SmallVector<llvm::StringRef, 8> words;
  for (const Token* const word : word_tokens) words.push_back(word->text);
  FormMatch match = match_form(words, instruction.operands);
  const llvm::StringRef first = words.front();
  const std::string& name = instruction.name;
  switch (match.fault) {
    case FormMatch::Fault::none:
      instruction.opcode = match.opcode;
      if (!match.name.empty()) instruction.name = std::move(match.name);
      return;
    case FormMatch::Fault::opcode:
      return set_fault(instruction, word_tokens.front()->location, "unknown instruction '" + first + "'");
    case FormMatch::Fault::modifier:
      if (match.position >= word_tokens.size()) {
        return set_fault(instruction, word_tokens.back()->location,
                         "'" + name + "' lacks a modifier after this; it takes: " + match.expected);
      }
      return set_fault(instruction, word_tokens[match.position]->location,
                       "'" + first + "' takes no '." + word_tokens[match.position]->text +
                           "' here; it takes: " + match.expected);
    case FormMatch::Fault::operand: break;
  }
  if (match.position >= instruction.operands.size()) {
    return set_fault(
        instruction, end.location,
        "'" + name + "' lacks operand " + llvm::Twine(match.position + 1) + ": " + match.expected);
  }
  set_fault(instruction, instruction.operands[match.position].location,
            "operand " + llvm::Twine(match.position + 1) + " of '" + name + "' should be: " + match.expected);
}

/// Parses operands up to the ';', which stays in `tokens`.
void parse_operands(TokenStream& tokens, Instruction& instruction) {
  llvm::SmallVector<Operand, 4> operands;
  if (!tokens.peek().is(';')) {
    tokens.comma_list([&] {
      if (operands.size() == max_operands) tokens.fail(tokens.peek(), "no instruction has so many operands");
      operands.push_back(parse_operand(tokens));
    });
  }
  if (!tokens.peek().is(';')) tokens.fail_expected("',' or ';'");
  instruction.operands.assign(std::move_iterator(operands.begin()), std::move_iterator(operands.end()));
}

/// Keeps the text up to the ';' as operands that cannot be parsed because of `error`. Throws `error` if the
/// block ends first.
void keep_operands(TokenStream& tokens, Instruction& instruction, const Token& first,
                   const SyntaxError& error) {
  tokens.go_back(first);
  tokens.skip_statement();
  if (!tokens.last().is(';')) throw error;
  // The token's text omits the dot of a word and the quote of a string.
  const bool has_prefix = first.kind == Token::Kind::word || first.kind == Token::Kind::string;
  const char* const text = first.text.begin() - (has_prefix ? 1 : 0);
  Operand operands = make(Operand::Kind::unread, first);
  operands.name = llvm::StringRef(text, tokens.last().text.begin() - text).rtrim().str();
  instruction.operands.clear();
  instruction.operands.push_back(std::move(operands));
  set_fault(instruction, error.where,
            "the operands of '" + instruction.name + "' cannot be read: " + error.what());
}

Instruction parse_instruction(TokenStream& tokens) {
  Instruction instruction;
  if (tokens.accept('@')) {
    const bool negated = tokens.accept('!');
    instruction.guard = {tokens.expect_identifier("a predicate"), negated};
  }
  Words word_tokens{&tokens.peek()};
  instruction.location = word_tokens.front()->location;
  instruction.name = tokens.expect_identifier("an instruction");
  while (tokens.peek().kind == Token::Kind::word) {
    word_tokens.push_back(&tokens.next());
    instruction.name.append({'.'}).append(word_tokens.back()->text);
    if (word_tokens.size() > max_words)
      tokens.fail(*word_tokens.back(), "no instruction has so many modifiers");
  }
  const Token& begin = tokens.peek();
  try {
    parse_operands(tokens, instruction);
  } catch (const SyntaxError& error) {
    keep_operands(tokens, instruction, begin, error);
    return instruction;
  }
  classify(instruction, word_tokens, tokens.next());
  return instruction;
}

LineMark parse_line_mark(TokenStream& tokens) {
  LineMark mark{.location = tokens.next().location,
                .file = tokens.expect_count("a file number"),
                .line = tokens.expect_count("a line"),
                .column = tokens.expect_count("a column"),
                .inlined = {}};
  if (!tokens.accept(',')) return mark;
  const auto expect_word = [&](const char* word) {
    if (tokens.expect_identifier(word) != word) tokens.fail_expected(word);
  };
  expect_word("function_name");
  // Clang 14 does not compile emplace() of a nested type with default member initialisers.
  LineMark::Inlined& inlined = mark.inlined.emplace(LineMark::Inlined{});
  inlined.function = tokens.expect_identifier("a label");
  inlined.offset = tokens.optional_offset();
  tokens.expect(',');
  expect_word("inlined_at");
  inlined.file = tokens.expect_count("a file number");
  inlined.line = tokens.expect_count("a line");
  inlined.column = tokens.expect_count("a column");
  return mark;
}

/// Parses the directive that a label names, after `label:`; empty if another statement follows.
std::optional<Statement> parse_labelled_directive(TokenStream& tokens, const Label& label) {
  const bool calls = tokens.peek().is_word("calltargets");
  if (calls || tokens.peek().is_word("branchtargets")) {
    tokens.next();
    TargetList list{label.location, label.name, calls, tokens.identifiers("a target")};
    tokens.expect(';');
    return Statement{std::move(list)};
  }
  if (!tokens.accept_word("callprototype")) return std::nullopt;
  CallPrototype prototype;
  prototype.location = label.location;
  prototype.label = label.name;
  prototype.results = parse_parameter_list(tokens);
  if (tokens.expect_identifier("_") != "_") tokens.fail_expected("_");
  prototype.parameters = parse_parameter_list(tokens);
  prototype.tuning = parse_tuning(tokens);
  tokens.expect(';');
  return Statement{std::move(prototype)};
}

void parse_statement(TokenStream& tokens, Block& block, unsigned depth) {
  const Token& token = tokens.peek();
  if (token.is('{')) {
    if (depth == max_block_depth) tokens.fail(token, "blocks nest too deeply");
    block.statements.push_back({parse_block(tokens, depth + 1)});
  } else if (token.kind == Token::Kind::identifier && tokens.peek(1).is(':')) {
    Label label{token.location, token.text.str()};
    tokens.next();
    tokens.next();
    auto directive = parse_labelled_directive(tokens, label);
    block.statements.push_back(directive ? std::move(*directive) : Statement{std::move(label)});
  } else if (token.kind != Token::Kind::word) {
    block.statements.push_back({parse_instruction(tokens)});
  } else if (token.text == "reg") {
    block.statements.push_back({parse_registers(tokens)});
  } else if (token.text == "loc") {
    block.statements.push_back({parse_line_mark(tokens)});
  } else if (token.text == "pragma") {
    block.statements.push_back({parse_pragma(tokens)});
  } else if (parse_state_space(token.text)) {
    for (Variable& variable : parse_variables(tokens, Linkage::none)) {
      block.statements.push_back({std::move(variable)});
    }
    tokens.expect(';');
  } else {
    tokens.fail(token, "unknown directive '." + token.text + "'");
  }
}

}  // namespace

Block parse_block(TokenStream& tokens, unsigned depth) {
  Block block;
  const Token& open = tokens.peek();
  block.location = open.location;
  tokens.expect('{');
  while (!tokens.accept('}')) {
    if (tokens.peek().kind == Token::Kind::end) tokens.fail(open, "this block is never closed with '}'");
    // An empty statement; NVRTC writes one after some inline assembly.
    if (tokens.accept(';')) continue;
    try {
      parse_statement(tokens, block, depth);
    } catch (const SyntaxError& error) {
      tokens.record(error);
      tokens.skip_statement();
    }
  }
  return block;
}

}  // namespace ptx
TMAJIT_END
