#include "ptx/printer.hpp"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/Format.h>
#include <llvm/Support/raw_ostream.h>

TMAJIT_BEGIN
namespace ptx {
namespace {

const char* linkage_text(Linkage linkage) {
  switch (linkage) {
    case Linkage::extern_: return ".extern ";
    case Linkage::visible: return ".visible ";
    case Linkage::weak: return ".weak ";
    case Linkage::common: return ".common ";
    default: return "";
  }
}

class Printer {
 public:
  explicit Printer(llvm::raw_ostream& out) : out_(out) {}

  void module(const Module& module) {
    out_ << ".version " << module.version_major << '.' << module.version_minor << "\n.target ";
    list(module.targets, [&](const std::string& target) { out_ << target; });
    out_ << '\n';
    if (module.address_size) out_ << ".address_size " << *module.address_size << '\n';
    for (const Directive& directive : module.directives) {
      out_ << '\n';
      std::visit([&](const auto& node) { top(node); }, directive);
    }
  }

  void instruction(const Instruction& instruction) {
    if (instruction.guard)
      out_ << (instruction.guard->negated ? "@!" : "@") << instruction.guard->predicate << ' ';
    out_ << instruction.full_name();
    const char* separator = " ";
    for (const Operand& each : instruction.operands) {
      out_ << separator;
      operand(each);
      separator = ", ";
    }
    out_ << ';';
  }

  void operand(const Operand& operand) {
    switch (operand.kind) {
      case Operand::Kind::symbol: symbol(operand); break;
      case Operand::Kind::immediate: immediate(operand.value); break;
      case Operand::Kind::sink: out_ << '_'; break;
      case Operand::Kind::negated: out_ << '!' << operand.name; break;
      case Operand::Kind::vector: enclosed('{', operand.elements, '}'); break;
      case Operand::Kind::tuple: enclosed('(', operand.elements, ')'); break;
      case Operand::Kind::pair:
        this->operand(operand.elements[0]);
        out_ << '|';
        this->operand(operand.elements[1]);
        break;
      case Operand::Kind::address: address(operand); break;
      case Operand::Kind::tensor:
        out_ << '[';
        this->operand(operand.elements[0]);
        out_ << ", ";
        enclosed('{', llvm::ArrayRef(operand.elements).drop_front(), '}');
        out_ << ']';
        break;
    }
  }

 private:
  template <class Range, class Each>
  void list(const Range& range, Each each) {
    const char* separator = "";
    for (const auto& item : range) {
      out_ << separator;
      each(item);
      separator = ", ";
    }
  }

  void enclosed(char open, llvm::ArrayRef<Operand> elements, char close) {
    out_ << open;
    list(elements, [&](const Operand& element) { operand(element); });
    out_ << close;
  }

  void offset(std::int64_t value) {
    if (value != 0) out_ << (value < 0 ? "" : "+") << value;
  }

  void symbol(const Operand& operand) {
    out_ << operand.name;
    if (!operand.component.empty()) out_ << '.' << operand.component;
    offset(operand.offset);
  }

  void address(const Operand& operand) {
    out_ << '[';
    if (operand.elements.empty()) {
      out_ << operand.offset;
    } else {
      symbol(operand.elements.front());
      offset(operand.offset);
    }
    out_ << ']';
  }

  void immediate(const Immediate& value) {
    switch (value.kind) {
      case Immediate::Kind::integer: out_ << static_cast<std::int64_t>(value.bits); break;
      case Immediate::Kind::unsigned_: out_ << value.bits << 'U'; break;
      case Immediate::Kind::f32: out_ << "0f" << hexadecimal(value.bits, 8); break;
      case Immediate::Kind::f64: out_ << "0d" << hexadecimal(value.bits, 16); break;
    }
  }

  static std::string hexadecimal(std::uint64_t bits, std::size_t digits) {
    const std::string text = llvm::utohexstr(bits);
    return std::string(digits - text.size(), '0') + text;
  }

  void initializer(const Initializer& value) {
    switch (value.kind) {
      case Initializer::Kind::value: immediate(value.value); break;
      case Initializer::Kind::symbol:
        out_ << value.name;
        offset(value.offset);
        break;
      case Initializer::Kind::generic:
        out_ << "generic(" << value.name << ')';
        offset(value.offset);
        break;
      case Initializer::Kind::mask:
        immediate(value.value);
        out_ << '(' << value.name << ')';
        break;
      case Initializer::Kind::list:
        out_ << '{';
        list(value.elements, [&](const Initializer& element) { initializer(element); });
        out_ << '}';
        break;
    }
  }

  void attributes(llvm::ArrayRef<std::string> names) {
    if (names.empty()) return;
    out_ << ".attribute(";
    list(names, [&](const std::string& name) { out_ << '.' << name; });
    out_ << ") ";
  }

  /// `.v4 .f32`
  void type(std::uint32_t width, ScalarType type) {
    if (width > 1) out_ << ".v" << width << ' ';
    out_ << '.' << name(type) << ' ';
  }

  void variable(const Variable& variable) {
    out_ << linkage_text(variable.linkage) << '.' << name(variable.space) << ' ';
    attributes(variable.attributes);
    if (variable.alignment) out_ << ".align " << *variable.alignment << ' ';
    type(variable.vector_width, variable.type);
    if (variable.pointer) {
      out_ << ".ptr ";
      if (variable.pointer->space) out_ << '.' << name(*variable.pointer->space) << ' ';
      if (variable.pointer->alignment) out_ << ".align " << *variable.pointer->alignment << ' ';
    }
    out_ << variable.name;
    for (const auto& extent : variable.extents) {
      out_ << '[';
      if (extent) out_ << *extent;
      out_ << ']';
    }
    if (variable.initializer) {
      out_ << " = ";
      initializer(*variable.initializer);
    }
  }

  void parameters(llvm::ArrayRef<Variable> parameters) {
    out_ << '(';
    list(parameters, [&](const Variable& parameter) { variable(parameter); });
    out_ << ')';
  }

  void tuning(llvm::ArrayRef<Tuning> directives) {
    for (const Tuning& directive : directives) {
      out_ << " ." << directive.name;
      const char* separator = " ";
      for (const std::uint64_t value : directive.values) {
        out_ << separator << value;
        separator = ", ";
      }
    }
  }

  void quoted(llvm::StringRef text) { out_ << '"' << text << '"'; }

  void top(const File& file) {
    out_ << ".file " << file.index << ' ';
    quoted(file.name);
    if (file.time) out_ << ", " << *file.time;
    if (file.size) out_ << ", " << *file.size;
    out_ << '\n';
  }

  void top(const Variable& variable) {
    this->variable(variable);
    out_ << ";\n";
  }

  void top(const Pragma& pragma) { node(pragma); }

  void top(const Alias& alias) { out_ << ".alias " << alias.name << ", " << alias.target << ";\n"; }

  void top(const Section& section) {
    out_ << ".section " << section.name << "\n{\n";
    for (const SectionLine& line : section.lines) {
      if (!line.label.empty()) {
        out_ << line.label << ":\n";
        continue;
      }
      out_ << '.' << name(line.type) << ' ';
      list(line.values, [&](const SectionValue& value) {
        out_ << value.symbol;
        if (!value.minus.empty()) out_ << '-' << value.minus;
        if (value.symbol.empty()) {
          out_ << value.value;
        } else {
          offset(value.value);
        }
      });
      out_ << '\n';
    }
    out_ << "}\n";
  }

  void top(const Function& function) {
    out_ << linkage_text(function.linkage);
    attributes(function.attributes);
    out_ << (function.is_entry ? ".entry " : ".func ");
    if (!function.results.empty()) {
      parameters(function.results);
      out_ << ' ';
    }
    out_ << function.name;
    parameters(function.parameters);
    tuning(function.tuning);
    if (!function.body) {
      out_ << ";\n";
      return;
    }
    out_ << '\n';
    node(*function.body);
  }

  void indent() { out_.indent(2 * depth_); }

  void node(const Block& block) {
    out_ << "{\n";
    ++depth_;
    for (const Statement& statement : block.statements) {
      indent();
      std::visit([&](const auto& inner) { node(inner); }, statement.node);
    }
    --depth_;
    indent();
    out_ << "}\n";
  }

  void node(const Instruction& instruction) {
    this->instruction(instruction);
    out_ << '\n';
  }

  void node(const Label& label) { out_ << label.name << ":\n"; }

  void node(const LineMark& mark) {
    out_ << ".loc " << mark.file << ' ' << mark.line << ' ' << mark.column;
    if (mark.inlined) {
      out_ << ", function_name " << mark.inlined->function;
      offset(mark.inlined->offset);
      out_ << ", inlined_at " << mark.inlined->file << ' ' << mark.inlined->line << ' '
           << mark.inlined->column;
    }
    out_ << '\n';
  }

  void node(const RegisterDeclaration& declaration) {
    out_ << ".reg ";
    type(declaration.vector_width, declaration.type);
    list(declaration.names, [&](const RegisterDeclaration::Name& name) {
      out_ << name.name;
      if (name.count) out_ << '<' << *name.count << '>';
    });
    out_ << ";\n";
  }

  void node(const Variable& variable) { top(variable); }

  void node(const Pragma& pragma) {
    out_ << ".pragma ";
    list(pragma.texts, [&](const std::string& text) { quoted(text); });
    out_ << ";\n";
  }

  void node(const TargetList& targets) {
    out_ << targets.label << (targets.calls ? ": .calltargets " : ": .branchtargets ");
    list(targets.targets, [&](const std::string& target) { out_ << target; });
    out_ << ";\n";
  }

  void node(const CallPrototype& prototype) {
    out_ << prototype.label << ": .callprototype ";
    if (!prototype.results.empty()) {
      parameters(prototype.results);
      out_ << ' ';
    }
    out_ << "_ ";
    parameters(prototype.parameters);
    tuning(prototype.tuning);
    out_ << ";\n";
  }

  llvm::raw_ostream& out_;
  unsigned depth_ = 0;
};

template <class Print>
std::string to_text(Print print) {
  std::string text;
  llvm::raw_string_ostream out(text);
  Printer printer(out);
  print(printer);
  out.flush();
  return text;
}

}  // namespace

std::string print(const Module& module) {
  return to_text([&](Printer& printer) { printer.module(module); });
}
std::string print(const Instruction& instruction) {
  return to_text([&](Printer& printer) { printer.instruction(instruction); });
}
std::string print(const Operand& operand) {
  return to_text([&](Printer& printer) { printer.operand(operand); });
}

}  // namespace ptx
TMAJIT_END
