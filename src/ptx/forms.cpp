#include "ptx/forms.hpp"

#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringMap.h>

TMAJIT_BEGIN
namespace ptx {
namespace {

struct WordClass {
  llvm::StringRef name;
  llvm::StringRef words;
};

/// The classes that rows name in capitals.
constexpr llvm::StringRef no_words = "";
const WordClass word_classes[] = {
    {"INT", "u16|u32|u64|s16|s32|s64"},
    {"INT32", "u32|s32"},
    {"WIDE", "u32|s32|u64|s64"},
    {"SINT", "s16|s32|s64"},
    {"BITS", "b16|b32|b64"},
    {"BIT2", "b32|b64"},
    {"HALF", "f16|f16x2|bf16|bf16x2"},
    {"HALF1", "f16|bf16"},
    {"HALF2", "f16x2|bf16x2"},
    {"E8X2", "e4m3x2|e5m2x2"},
    {"REG", "b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64"},
    {"MEM", "b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f16|bf16|f16x2|f32|f64"},
    {"CONV", "u8|u16|u32|u64|s8|s16|s32|s64|bf16|f16|f32|f64"},
    {"RND", "rn|rz|rm|rp"},
    {"IRND", "rni|rzi|rmi|rpi"},
    {"CMP", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs|equ|neu|ltu|leu|gtu|geu|num|nan"},
    {"BOOL", "and|or|xor"},
    {"SS", "const|global|local|param|param::entry|param::func|shared|shared::cta|shared::cluster"},
    {"SHARED", "shared|shared::cta|shared::cluster"},
    {"SHARED_CTA", "shared|shared::cta"},
    {"SCOPE", "cta|cluster|gpu|sys"},
    {"LDCOP", "ca|cg|cs|lu|cv"},
    {"STCOP", "wb|cg|cs|wt"},
    {"EVICT1", "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"},
    {"EVICT2", "L2::evict_normal|L2::evict_first|L2::evict_last|L2::evict_unchanged"},
    {"HINT", "L2::cache_hint"},
    {"FETCH", "L2::64B|L2::128B|L2::256B"},
    {"VEC", "v2|v4|v8"},
    {"DIM", "1d|2d|3d|4d|5d"},
    {"BYTES", "mbarrier::complete_tx::bytes"},
    {"REDOP", "add|min|max|inc|dec|and|or|xor"},
    {"ATOMOP", "add|min|max|inc|dec|and|or|xor|exch|cas"},
    {"SHAPE", no_words},  // m64n128k16: a pattern, see is_shape()
};

bool take_number(llvm::StringRef& text) {
  const std::size_t digits = text.size() - text.ltrim("0123456789").size();
  text = text.drop_front(digits);
  return digits > 0;
}

/// m8n8, m64n128k16
bool is_shape(llvm::StringRef word) {
  if (!word.consume_front("m") || !take_number(word)) return false;
  if (!word.consume_front("n") || !take_number(word)) return false;
  return word.empty() || (word.consume_front("k") && take_number(word) && word.empty());
}

struct ModifierItem {
  llvm::SmallVector<llvm::StringRef, 4> words;
  bool shape = false;
  bool optional = false;

  [[nodiscard]] bool takes(llvm::StringRef word) const {
    return (shape && is_shape(word)) || llvm::is_contained(words, word);
  }
};

struct OperandItem {
  char kind = 's';
  bool optional = false;
};

struct Form {
  Opcode opcode = Opcode::exit;
  llvm::SmallVector<llvm::StringRef, 4> name;
  std::vector<ModifierItem> modifiers;
  std::vector<OperandItem> operands;
};

void add_words(ModifierItem& item, llvm::StringRef alternatives) {
  llvm::SmallVector<llvm::StringRef, 16> names;
  alternatives.split(names, '|', -1, false);
  for (const llvm::StringRef word : names) {
    const auto* found = llvm::find_if(word_classes, [&](const WordClass& c) { return c.name == word; });
    if (found == std::end(word_classes)) {
      item.words.push_back(word);
    } else if (found->words.empty()) {
      item.shape = true;
    } else {
      add_words(item, found->words);
    }
  }
}

Form compile_row(const FormRow& row) {
  Form form;
  form.opcode = row.opcode;
  llvm::StringRef(row.name).split(form.name, '.');
  llvm::SmallVector<llvm::StringRef, 16> items;
  llvm::StringRef(row.modifiers).split(items, ' ', -1, false);
  for (llvm::StringRef text : items) {
    ModifierItem item;
    item.optional = text.consume_back("?");
    add_words(item, text);
    form.modifiers.push_back(std::move(item));
  }
  items.clear();
  llvm::StringRef(row.operands).split(items, ' ', -1, false);
  for (llvm::StringRef text : items) form.operands.push_back({text[0], text.back() == '?'});
  return form;
}

/// The forms of every operation by its first word.
using FormTable = llvm::StringMap<std::vector<Form>>;

FormTable compile_table() {
  FormTable table;
  for (const auto rows : {arithmetic_forms(), logic_forms(), memory_forms(), async_copy_forms(),
                          control_forms(), synchronization_forms(), matrix_forms()}) {
    for (const FormRow& row : rows) {
      Form form = compile_row(row);
      table[form.name.front()].push_back(std::move(form));
    }
  }
  return table;
}

bool is_register(const Operand& operand) {
  return operand.kind == Operand::Kind::symbol || operand.kind == Operand::Kind::sink;
}
bool is_scalar(const Operand& operand) {
  return operand.kind == Operand::Kind::symbol || operand.kind == Operand::Kind::immediate;
}
bool is_vector_of(const Operand& operand, bool (*element)(const Operand&)) {
  return operand.kind == Operand::Kind::vector && llvm::all_of(operand.elements, element);
}

bool fits(const Operand& operand, char kind) {
  using Kind = Operand::Kind;
  switch (kind) {
    case 'd': return is_register(operand);
    case 'D': return is_register(operand) || is_vector_of(operand, is_register);
    case 'e': return is_register(operand) || operand.kind == Kind::pair;
    case 's': return is_scalar(operand);
    case 'S':
      return is_scalar(operand) ||
             is_vector_of(operand, [](const Operand& e) { return is_scalar(e) || e.kind == Kind::sink; });
    case 'v': return operand.kind == Kind::vector;
    case 'p': return is_scalar(operand) || operand.kind == Kind::negated;
    case 'k': return operand.kind == Kind::immediate;
    case 'm': return operand.kind == Kind::address;
    case 't': return operand.kind == Kind::tensor;
    case 'l': return operand.kind == Kind::symbol;
    default: return operand.kind == Kind::tuple;  // q
  }
}

const char* describe(char kind) {
  switch (kind) {
    case 'd': return "a register or _";
    case 'D': return "a register, _ or a vector {…} of them";
    case 'e': return "a register or two, d|p";
    case 's': return "a register, literal or symbol";
    case 'S': return "a register, literal, symbol or a vector {…} of them";
    case 'v': return "a vector {…}";
    case 'p': return "a predicate";
    case 'k': return "a literal";
    case 'm': return "an address […]";
    case 't': return "a tensor address [map, {coordinates}]";
    case 'l': return "a name";
    default: return "a list (…)";
  }
}

/// Matches one form against one instruction and remembers the furthest failure over all of them.
class Matcher {
 public:
  Matcher(llvm::ArrayRef<std::string> words, llvm::ArrayRef<Operand> operands)
      : words_(words), operands_(operands) {}

  bool matches(const Form& form) {
    for (std::size_t i = 0; i < form.name.size(); ++i) {
      if (i >= words_.size() || form.name[i] != words_[i]) {
        fail(FormMatch::Fault::modifier, i, dotted(form.name[i]));
        return false;
      }
    }
    return modifiers(form, 0, form.name.size());
  }

  [[nodiscard]] FormMatch failure() const {
    FormMatch match = furthest_;
    match.expected = llvm::join(expected_, ", ");
    return match;
  }

 private:
  static std::string dotted(llvm::StringRef word) { return ("." + word).str(); }

  bool modifiers(const Form& form, std::size_t item, std::size_t word) {
    if (item == form.modifiers.size()) {
      if (word == words_.size()) return operands(form, 0, 0);
      fail(FormMatch::Fault::modifier, word, "no further modifier");
      return false;
    }
    const ModifierItem& modifier = form.modifiers[item];
    if (word < words_.size() && modifier.takes(words_[word])) {
      if (modifiers(form, item + 1, word + 1)) return true;
    } else {
      if (modifier.shape) fail(FormMatch::Fault::modifier, word, ".m…n…k…");
      for (const llvm::StringRef text : modifier.words) fail(FormMatch::Fault::modifier, word, dotted(text));
    }
    return modifier.optional && modifiers(form, item + 1, word);
  }

  bool operands(const Form& form, std::size_t item, std::size_t operand) {
    if (item == form.operands.size()) {
      if (operand == operands_.size()) return true;
      fail(FormMatch::Fault::operand, operand, "no further operand");
      return false;
    }
    const OperandItem& wanted = form.operands[item];
    if (operand < operands_.size() && fits(operands_[operand], wanted.kind)) {
      if (operands(form, item + 1, operand + 1)) return true;
    } else {
      fail(FormMatch::Fault::operand, operand, describe(wanted.kind));
    }
    return wanted.optional && operands(form, item + 1, operand);
  }

  void fail(FormMatch::Fault fault, std::size_t position, std::string expected) {
    const auto rank = std::pair(fault, position);
    const auto best = std::pair(furthest_.fault, furthest_.position);
    if (rank < best) return;
    if (rank > best) expected_.clear();
    furthest_.fault = fault;
    furthest_.position = position;
    if (expected_.size() < 24 && !llvm::is_contained(expected_, expected))
      expected_.push_back(std::move(expected));
  }

  llvm::ArrayRef<std::string> words_;
  llvm::ArrayRef<Operand> operands_;
  FormMatch furthest_;
  std::vector<std::string> expected_;
};

Operand sample_operand(char kind) {
  Operand symbol;
  symbol.name = "a";
  Operand operand;
  switch (kind) {
    case 'k':
      operand.kind = Operand::Kind::immediate;
      operand.value.bits = 1;
      return operand;
    case 'm': operand.kind = Operand::Kind::address; break;
    case 't': operand.kind = Operand::Kind::tensor; break;
    case 'v': operand.kind = Operand::Kind::vector; break;
    case 'q': operand.kind = Operand::Kind::tuple; break;
    default: return symbol;
  }
  operand.elements.push_back(symbol);
  if (kind == 't') operand.elements.push_back(symbol);
  return operand;
}

}  // namespace

Instruction sample_instruction(const FormRow& row, bool with_optional) {
  const Form form = compile_row(row);
  Instruction instruction;
  instruction.opcode = form.opcode;
  for (const llvm::StringRef word : form.name) instruction.words.push_back(word.str());
  for (const ModifierItem& item : form.modifiers) {
    if (item.optional && !with_optional) continue;
    instruction.words.push_back(item.shape ? "m64n8k16" : item.words.front().str());
  }
  for (const OperandItem& item : form.operands) {
    if (!item.optional || with_optional) instruction.operands.push_back(sample_operand(item.kind));
  }
  return instruction;
}

FormMatch match_form(llvm::ArrayRef<std::string> words, llvm::ArrayRef<Operand> operands) {
  static const FormTable table = compile_table();
  const auto forms = table.find(words.front());
  if (forms == table.end()) return {FormMatch::Fault::opcode, Opcode::exit, 0, {}};
  Matcher matcher(words, operands);
  for (const Form& form : forms->second) {
    if (matcher.matches(form)) return {FormMatch::Fault::none, form.opcode, 0, {}};
  }
  return matcher.failure();
}

}  // namespace ptx
TMAJIT_END
