#include "ptx/printer.hpp"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

TMAJIT_BEGIN
namespace ptx {

// Each node is written by an operator<<. These are static, not in an unnamed namespace, so that LLVM finds
// them.
using Out = llvm::raw_ostream;

/// `a, b, c`
template <class Item>
struct List {
  llvm::ArrayRef<Item> items;
};
template <class Range>
static List<typename Range::value_type> list(const Range& items) {
  return {items};
}

template <class Item>
static Out& operator<<(Out& out, List<Item> list) {
  llvm::interleaveComma(list.items, out);
  return out;
}

/// `+4`, `-4`, or nothing for 0.
struct Offset {
  std::int64_t value;
};
static Out& operator<<(Out& out, Offset offset) {
  return offset.value == 0 ? out : out << (offset.value < 0 ? "" : "+") << offset.value;
}

static Out& operator<<(Out& out, Linkage linkage) {
  constexpr const char* texts[] = {"", ".extern ", ".visible ", ".weak ", ".common "};
  return out << texts[static_cast<std::size_t>(linkage)];
}

static Out& operator<<(Out& out, StateSpace space) {
  return out << '.' << name(space) << ' ';
}

/// `.v4 .f32`
struct VectorType {
  std::uint32_t width;
  ScalarType type;
};
static Out& operator<<(Out& out, VectorType type) {
  if (type.width > 1) out << ".v" << type.width << ' ';
  return out << '.' << name(type.type) << ' ';
}

static Out& operator<<(Out& out, const Immediate& value) {
  switch (value.kind) {
    case Immediate::Kind::integer: return out << static_cast<std::int64_t>(value.bits);
    case Immediate::Kind::unsigned_: return out << value.bits << 'U';
    case Immediate::Kind::f32: return out << "0f" << llvm::format_hex_no_prefix(value.bits, 8, true);
    default: return out << "0d" << llvm::format_hex_no_prefix(value.bits, 16, true);
  }
}

static Out& operator<<(Out& out, const Operand& operand) {
  const auto& elements = operand.elements;
  switch (operand.kind) {
    case Operand::Kind::symbol:
      out << operand.name;
      if (!operand.component.empty()) out << '.' << operand.component;
      return out << Offset{operand.offset};
    case Operand::Kind::immediate: return out << operand.value;
    case Operand::Kind::sink: return out << '_';
    case Operand::Kind::unread: return out << operand.name;
    case Operand::Kind::negated: return out << '!' << operand.name;
    case Operand::Kind::vector: return out << '{' << list(elements) << '}';
    case Operand::Kind::tuple: return out << '(' << list(elements) << ')';
    case Operand::Kind::pair: return out << elements[0] << '|' << elements[1];
    case Operand::Kind::address:
      if (elements.empty()) return out << '[' << operand.offset << ']';
      return out << '[' << elements[0] << Offset{operand.offset} << ']';
    default: return out << '[' << elements[0] << ", {" << list(llvm::ArrayRef(elements).drop_front()) << "}]";
  }
}

static Out& operator<<(Out& out, const Instruction& instruction) {
  if (instruction.guard)
    out << (instruction.guard->negated ? "@!" : "@") << instruction.guard->predicate << ' ';
  return out << instruction.name << (instruction.operands.empty() ? "" : " ") << list(instruction.operands)
             << ';';
}

static Out& operator<<(Out& out, const Initializer& value) {
  switch (value.kind) {
    case Initializer::Kind::value: return out << value.value;
    case Initializer::Kind::symbol: return out << value.name << Offset{value.offset};
    case Initializer::Kind::generic: return out << "generic(" << value.name << ')' << Offset{value.offset};
    case Initializer::Kind::mask: return out << value.value << '(' << value.name << ')';
    case Initializer::Kind::literals: return out << '{' << list(value.literals) << '}';
    default: return out << '{' << list(value.elements) << '}';
  }
}

/// `.attribute(.managed)`
static void write_attributes(Out& out, llvm::ArrayRef<std::string> names) {
  if (names.empty()) return;
  out << ".attribute(";
  llvm::interleaveComma(names, out, [&](const std::string& each) { out << '.' << each; });
  out << ") ";
}

static Out& operator<<(Out& out, const Variable& variable) {
  out << variable.linkage << variable.space;
  write_attributes(out, variable.attributes);
  if (variable.alignment) out << ".align " << *variable.alignment << ' ';
  out << VectorType{variable.vector_width, variable.type};
  if (variable.pointer) {
    out << ".ptr ";
    if (variable.pointer->space) out << *variable.pointer->space;
    if (variable.pointer->alignment) out << ".align " << *variable.pointer->alignment << ' ';
  }
  out << variable.name;
  for (const auto& extent : variable.extents) out << '[' << (extent ? std::to_string(*extent) : "") << ']';
  if (variable.initializer) out << " = " << *variable.initializer;
  return out;
}

/// `(results) name (parameters) .maxntid 256`, the results only if there are any.
template <class Signature>
static void write_signature(Out& out, const Signature& signature, llvm::StringRef before_parameters) {
  if (!signature.results.empty()) out << '(' << list(signature.results) << ") ";
  out << before_parameters << '(' << list(signature.parameters) << ')';
  for (const Tuning& directive : signature.tuning)
    out << " ." << directive.name << (directive.values.empty() ? "" : " ") << list(directive.values);
}

static Out& operator<<(Out& out, const RegisterDeclaration::Name& name) {
  out << name.name;
  if (name.count) out << '<' << *name.count << '>';
  return out;
}

static Out& operator<<(Out& out, const SectionValue& value) {
  if (value.symbol.empty()) return out << value.value;
  out << value.symbol;
  if (!value.minus.empty()) out << '-' << value.minus;
  return out << Offset{value.value};
}

/// Writes directives and statements, each on lines of its own.
class Printer {
 public:
  explicit Printer(Out& out) : out_(out) {}

  void node(const Module& module) {
    out_ << ".version " << module.version_major << '.' << module.version_minor << "\n.target "
         << list(module.targets) << '\n';
    if (module.address_size) out_ << ".address_size " << *module.address_size << '\n';
    for (const Directive& directive : module.directives) {
      out_ << '\n';
      std::visit([&](const auto& each) { node(each); }, directive);
    }
  }

 private:
  void node(const File& file) {
    out_ << ".file " << file.index << " \"" << file.name << '"';
    if (file.time) out_ << ", " << *file.time;
    if (file.size) out_ << ", " << *file.size;
    out_ << '\n';
  }

  void node(const Alias& alias) { out_ << ".alias " << alias.name << ", " << alias.target << ";\n"; }

  void node(const Section& section) {
    out_ << ".section " << section.name << "\n{\n";
    for (const SectionLine& line : section.lines) {
      if (line.label.empty()) {
        out_ << VectorType{1, line.type} << list(line.values) << '\n';
      } else {
        out_ << line.label << ":\n";
      }
    }
    out_ << "}\n";
  }

  void node(const Function& function) {
    out_ << function.linkage;
    write_attributes(out_, function.attributes);
    out_ << (function.is_entry ? ".entry " : ".func ");
    write_signature(out_, function, function.name);
    out_ << (function.body ? "\n" : ";\n");
    if (function.body) node(*function.body);
  }

  void node(const Block& block) {
    out_ << "{\n";
    ++depth_;
    for (const Statement& statement : block.statements) {
      out_.indent(2 * depth_);
      std::visit([&](const auto& each) { node(each); }, statement.node);
    }
    --depth_;
    out_.indent(2 * depth_) << "}\n";
  }

  void node(const Instruction& instruction) { out_ << instruction << '\n'; }
  void node(const Variable& variable) { out_ << variable << ";\n"; }
  void node(const Label& label) { out_ << label.name << ":\n"; }

  void node(const LineMark& mark) {
    out_ << ".loc " << mark.file << ' ' << mark.line << ' ' << mark.column;
    if (const auto& inlined = mark.inlined) {
      out_ << ", function_name " << inlined->function << Offset{inlined->offset} << ", inlined_at "
           << inlined->file << ' ' << inlined->line << ' ' << inlined->column;
    }
    out_ << '\n';
  }

  void node(const RegisterDeclaration& declaration) {
    out_ << ".reg " << VectorType{declaration.vector_width, declaration.type} << list(declaration.names)
         << ";\n";
  }

  void node(const Pragma& pragma) {
    out_ << ".pragma ";
    llvm::interleaveComma(pragma.texts, out_, [&](const std::string& text) { out_ << '"' << text << '"'; });
    out_ << ";\n";
  }

  void node(const TargetList& targets) {
    out_ << targets.label << (targets.calls ? ": .calltargets " : ": .branchtargets ")
         << list(targets.targets) << ";\n";
  }

  void node(const CallPrototype& prototype) {
    out_ << prototype.label << ": .callprototype ";
    write_signature(out_, prototype, "_ ");
    out_ << ";\n";
  }

  Out& out_;
  unsigned depth_ = 0;
};

template <class Print>
static std::string to_text(Print print) {
  std::string text;
  llvm::raw_string_ostream out(text);
  print(out);
  out.flush();
  return text;
}

std::string print(const Module& module) {
  return to_text([&](Out& out) { Printer(out).node(module); });
}
std::string print(const Instruction& instruction) {
  return to_text([&](Out& out) { out << instruction; });
}
std::string print(const Operand& operand) {
  return to_text([&](Out& out) { out << operand; });
}

std::vector<std::string> print(const std::vector<Diagnostic>& errors, std::string_view text,
                               std::string_view name, bool as_notes) {
  if (errors.empty()) return {};
  llvm::SourceMgr sources;
  const unsigned buffer = sources.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(text, name, false), {});
  std::vector<std::string> texts;
  for (const Diagnostic& error : errors) {
    const Location where = error.location;
    const llvm::SMLoc place =
        where.line == 0 ? llvm::SMLoc() : sources.FindLocForLineAndColumn(buffer, where.line, where.column);
    texts.push_back(to_text([&](Out& out) {
      if (place.isValid())
        return sources.PrintMessage(out, place,
                                    as_notes           ? llvm::SourceMgr::DK_Note
                                    : error.is_warning ? llvm::SourceMgr::DK_Warning
                                                       : llvm::SourceMgr::DK_Error,
                                    error.message, {}, {}, false);
      out << name;
      if (where.line != 0) out << ':' << where.line << ':' << where.column;
      out << (as_notes           ? ": note: "
              : error.is_warning ? ": warning: "
                                 : ": error: ")
          << error.message << '\n';
    }));
  }
  return texts;
}

}  // namespace ptx
TMAJIT_END
