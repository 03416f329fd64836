#include "ptx/parser.hpp"

#include "ptx/token_stream.hpp"

#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

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
  tokens.comma_list([&] { module.targets.push_back(tokens.expect_identifier("a target such as sm_90a")); });
  if (tokens.accept_word("address_size")) {
    module.address_size = tokens.expect_count("32 or 64");
  }
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
  if (tokens.peek().is('(')) function.results = parse_parameter_list(tokens);
  function.name = tokens.expect_identifier("the name of a function");
  if (tokens.peek().is('(')) function.parameters = parse_parameter_list(tokens);
  function.tuning = parse_tuning(tokens);
  if (!tokens.accept(';')) function.body = parse_block(tokens);
  return function;
}

void parse_directive(TokenStream& tokens, Module& module) {
  const Token& token = tokens.peek();
  if (token.is_word("file")) {
    module.directives.emplace_back(parse_file(tokens));
    return;
  }
  if (token.is_word("section")) {
    module.directives.emplace_back(parse_section(tokens));
    return;
  }
  if (token.is_word("pragma")) {
    module.directives.emplace_back(parse_pragma(tokens));
    return;
  }
  if (tokens.accept_word("alias")) {
    Alias alias;
    alias.location = token.location;
    alias.name = tokens.expect_identifier("a function");
    tokens.expect(',');
    alias.target = tokens.expect_identifier("a function");
    tokens.expect(';');
    module.directives.emplace_back(std::move(alias));
    return;
  }
  const Linkage linkage = parse_linkage(tokens);
  if (tokens.peek().is_word("entry") || tokens.peek().is_word("func")) {
    module.directives.emplace_back(parse_function(tokens, linkage));
    return;
  }
  if (tokens.peek().kind != Token::Kind::word || !parse_state_space(tokens.peek().text)) {
    tokens.fail_expected("a function, a variable or another directive");
  }
  for (Variable& variable : parse_variables(tokens, linkage))
    module.directives.emplace_back(std::move(variable));
  tokens.expect(';');
}

void parse_module(TokenStream& tokens, Module& module) {
  try {
    parse_header(tokens, module);
    while (tokens.peek().kind != Token::Kind::end) parse_directive(tokens, module);
  } catch (const SyntaxError& error) {
    tokens.record(error.where(), error.what());
  }
}

/// Every error with its line and a caret.
void report_errors(const std::vector<LocatedError>& errors, llvm::SourceMgr& sources, ParseResult& result) {
  llvm::raw_string_ostream out(result.report);
  const unsigned buffer = sources.getMainFileID();
  for (const LocatedError& error : errors) {
    const auto where = llvm::SMLoc::getFromPointer(error.where);
    const auto [line, column] = sources.getLineAndColumn(where, buffer);
    result.diagnostics.push_back({{line, column}, error.message});
    sources.PrintMessage(out, where, llvm::SourceMgr::DK_Error, error.message, {}, {}, false);
  }
  out.flush();
}

}  // namespace

ParseResult parse(std::string_view text, std::string_view name) {
  ParseResult result;
  if (text.size() > max_text) {
    result.report = std::string(name) + ": error: PTX of more than 1 GiB\n";
    result.diagnostics.push_back({{}, "PTX of more than 1 GiB"});
    return result;
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBufferCopy(text, name), {});
  const llvm::StringRef source = sources.getMemoryBuffer(sources.getMainFileID())->getBuffer();

  Module module;
  std::vector<LocatedError> errors;
  try {
    TokenStream tokens(tokenize(source));
    try {
      parse_module(tokens, module);
    } catch (const TooManyErrors&) {
      // The twenty that are kept say enough.
    }
    errors = tokens.errors();
  } catch (const SyntaxError& error) {
    errors.push_back({error.where(), error.what()});
  }
  if (errors.empty()) {
    result.module = std::move(module);
  } else {
    report_errors(errors, sources, result);
  }
  return result;
}

}  // namespace ptx
TMAJIT_END
