#include "ptx/token_stream.hpp"

TMAJIT_BEGIN
namespace ptx {
namespace {

constexpr unsigned max_initializer_depth = 16;

std::uint32_t parse_vector_width(TokenStream& tokens) {
  if (tokens.accept_word("v2")) return 2;
  if (tokens.accept_word("v4")) return 4;
  return tokens.accept_word("v8") ? 8 : 1;
}

std::uint64_t parse_alignment(TokenStream& tokens) {
  const Token& token = tokens.peek();
  const std::uint64_t alignment = tokens.expect_count("an alignment in bytes");
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
    tokens.fail(token, "an alignment is a power of two, not " + llvm::Twine(alignment));
  }
  return alignment;
}

/// Adds an element to a list. The list stores bare literals until it gets another element: tables have very
/// many literals.
void add_element(Initializer& list, Initializer element) {
  if (list.kind == Initializer::Kind::literals) {
    if (element.kind == Initializer::Kind::value) return list.literals.push_back(element.value);
    list.kind = Initializer::Kind::list;
    for (const Immediate& literal : list.literals) list.elements.emplace_back().value = literal;
    list.literals.clear();
  }
  list.elements.push_back(std::move(element));
}

Initializer parse_initializer(TokenStream& tokens, unsigned depth) {
  Initializer initializer;
  const Token& token = tokens.peek();
  if (token.is('{')) {
    if (depth == max_initializer_depth) tokens.fail(token, "initialisers nest too deeply");
    initializer.kind = Initializer::Kind::literals;
    tokens.enclosed_list('{', '}', [&] { add_element(initializer, parse_initializer(tokens, depth + 1)); });
    return initializer;
  }
  if (token.kind != Token::Kind::identifier) {
    initializer.value = tokens.expect_immediate();
    if (tokens.accept('(')) {
      initializer.kind = Initializer::Kind::mask;
      initializer.name = tokens.expect_identifier("a variable");
      tokens.expect(')');
    }
    return initializer;
  }
  initializer.kind = Initializer::Kind::symbol;
  initializer.name = tokens.expect_identifier("a value");
  if (initializer.name == "generic" && tokens.accept('(')) {
    initializer.kind = Initializer::Kind::generic;
    initializer.name = tokens.expect_identifier("a variable");
    tokens.expect(')');
  }
  initializer.offset = tokens.optional_offset();
  return initializer;
}

StateSpace parse_space(TokenStream& tokens) {
  const Token& token = tokens.peek();
  const auto space = token.kind == Token::Kind::word ? parse_state_space(token.text) : std::nullopt;
  if (!space) tokens.fail_expected("a state space such as .global");
  tokens.next();
  return *space;
}

Variable::Pointer parse_pointer(TokenStream& tokens) {
  Variable::Pointer pointer;
  if (tokens.peek().kind == Token::Kind::word) {
    pointer.space = parse_state_space(tokens.peek().text);
    if (pointer.space) tokens.next();
  }
  if (tokens.accept_word("align")) pointer.alignment = parse_alignment(tokens);
  return pointer;
}

/// Parses a declaration up to its name.
Variable parse_prefix(TokenStream& tokens, Linkage linkage) {
  Variable variable;
  variable.location = tokens.peek().location;
  variable.linkage = linkage;
  variable.space = parse_space(tokens);
  variable.attributes = parse_attributes(tokens);
  // The type may stand before or after the alignment.
  std::optional<ScalarType> type;
  while (tokens.peek().kind == Token::Kind::word) {
    if (!variable.alignment && tokens.accept_word("align")) {
      variable.alignment = parse_alignment(tokens);
    } else if (type && !variable.pointer && tokens.accept_word("ptr")) {
      variable.pointer = parse_pointer(tokens);
    } else if (!type) {
      variable.vector_width = parse_vector_width(tokens);
      type = tokens.expect_type();
    } else {
      tokens.fail_expected("a name");
    }
  }
  if (!type) tokens.expect_type();
  variable.type = *type;
  return variable;
}

/// name[extent]… = initialiser
void parse_name(TokenStream& tokens, Variable& variable) {
  variable.name = tokens.expect_identifier("a name");
  while (tokens.accept('[')) {
    std::optional<std::uint64_t> extent;
    if (!tokens.peek().is(']')) extent = tokens.expect_count("an extent");
    variable.extents.push_back(extent);
    tokens.expect(']');
  }
  if (tokens.accept('=')) variable.initializer = parse_initializer(tokens, 0);
}

struct TuningName {
  llvm::StringRef name;
  bool has_values;
};
constexpr TuningName tuning_names[] = {
    {"maxntid", true},          {"reqntid", true},        {"minnctapersm", true},
    {"maxnctapersm", true},     {"maxnreg", true},        {"reqnctapercluster", true},
    {"explicitcluster", false}, {"maxclusterrank", true}, {"blocksareclusters", false},
    {"noreturn", false},        {"abi_preserve", true},   {"abi_preserve_control", true},
};

}  // namespace

std::vector<std::string> parse_attributes(TokenStream& tokens) {
  std::vector<std::string> attributes;
  if (!tokens.accept_word("attribute")) return attributes;
  tokens.expect('(');
  tokens.comma_list([&] {
    if (tokens.peek().kind != Token::Kind::word) tokens.fail_expected("an attribute such as .managed");
    attributes.push_back(tokens.next().text.str());
    if (tokens.accept('(')) {
      std::string& text = attributes.back();
      text += '(';
      tokens.comma_list([&] {
        if (text.back() != '(') text += ", ";
        text += std::to_string(tokens.expect_count("a number"));
      });
      tokens.expect(')');
      text += ')';
    }
  });
  tokens.expect(')');
  return attributes;
}

std::vector<Variable> parse_variables(TokenStream& tokens, Linkage linkage) {
  const Variable prefix = parse_prefix(tokens, linkage);
  std::vector<Variable> variables;
  tokens.comma_list([&] {
    Variable variable = prefix;
    parse_name(tokens, variable);
    variables.push_back(std::move(variable));
  });
  return variables;
}

std::vector<Variable> parse_parameter_list(TokenStream& tokens) {
  std::vector<Variable> parameters;
  if (!tokens.peek().is('(')) return parameters;
  tokens.enclosed_list('(', ')', [&] {
    Variable& parameter = parameters.emplace_back(parse_prefix(tokens, Linkage::none));
    if (parameter.space != StateSpace::param && parameter.space != StateSpace::reg) {
      tokens.fail_expected("a parameter in .param or .reg");
    }
    parse_name(tokens, parameter);
  });
  return parameters;
}

std::vector<Tuning> parse_tuning(TokenStream& tokens) {
  std::vector<Tuning> directives;
  while (tokens.peek().kind == Token::Kind::word) {
    const Token& token = tokens.peek();
    const TuningName* known = nullptr;
    for (const TuningName& candidate : tuning_names)
      known = candidate.name == token.text ? &candidate : known;
    if (known == nullptr) tokens.fail(token, "unknown directive '." + token.text + "' of a function");
    tokens.next();
    Tuning tuning{known->name.str(), {}};
    if (known->has_values) {
      tokens.comma_list([&] { tuning.values.push_back(tokens.expect_count("a number")); });
    }
    directives.push_back(std::move(tuning));
  }
  return directives;
}

RegisterDeclaration parse_registers(TokenStream& tokens) {
  RegisterDeclaration declaration;
  declaration.location = tokens.next().location;
  declaration.vector_width = parse_vector_width(tokens);
  declaration.type = tokens.expect_type();
  tokens.comma_list([&] {
    RegisterDeclaration::Name name;
    name.name = tokens.expect_identifier("a register name");
    if (tokens.accept('<')) {
      const Token& token = tokens.peek();
      const std::uint64_t count = tokens.expect_count("the number of registers");
      if (count > UINT32_MAX) tokens.fail(token, "a declaration makes fewer than 2^32 registers");
      name.count = static_cast<std::uint32_t>(count);
      tokens.expect('>');
    }
    declaration.names.push_back(std::move(name));
  });
  tokens.expect(';');
  return declaration;
}

Pragma parse_pragma(TokenStream& tokens) {
  Pragma pragma;
  pragma.location = tokens.next().location;
  tokens.comma_list([&] { pragma.texts.push_back(tokens.expect_string("a string")); });
  tokens.expect(';');
  return pragma;
}

}  // namespace ptx
TMAJIT_END
