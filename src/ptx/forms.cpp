#include "ptx/forms.hpp"

#include <bitset>
#include <vector>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/ADT/StringSet.h>

TMAJIT_BEGIN
namespace ptx {
namespace {

struct WordClass {
  llvm::StringRef name;
  llvm::StringRef words;
};

/// Stands for every shape of a matrix operation: m8n8, m64n128k16.
constexpr llvm::StringLiteral any_shape = "m…n…k…";

/// The classes that rows name in capitals.
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
    {"ORDER", "relaxed|acquire|release|acq_rel"},
    {"NUMBER", "BIT2|WIDE|f32|f64|HALF"},
    {"SUM", "f16|f32|f64|s32"},
    {"WMMA", "f16|bf16|tf32|f64|u8|s8|u4|s4"},
    {"FRAGMENT", "WMMA|b1|e4m3|e5m2"},
    {"SPARSE", "f16|bf16|tf32|u8|s8|u4|s4|e4m3|e5m2"},
    {"GEOMETRY", "1d|2d|3d|a1d|a2d|cube|acube|2dms|a2dms"},
    {"QUERY",
     "width|height|depth|channel_data_type|channel_order|normalized_coords|array_size|num_mipmap_levels|"
     "num_samples|memory_layout|filter_mode|addr_mode_0|addr_mode_1|addr_mode_2"},
    {"SHAPE", any_shape},
};

/// Whether the word is m64n8k16 or m8n8, with any numbers.
bool is_shape(llvm::StringRef word) {
  const auto consume_extent = [&](llvm::StringRef letter) {
    if (!word.consume_front(letter)) return false;
    const std::size_t digits = word.take_while(llvm::isDigit).size();
    word = word.drop_front(digits);
    return digits != 0;
  };
  return consume_extent("m") && consume_extent("n") &&
         (word.empty() || (consume_extent("k") && word.empty()));
}

/// Every word of the rows, once: words are equal if their data() are.
using Vocabulary = llvm::StringSet<>;

/// An item of FormRow::modifiers or a word of its name. `words` are in the vocabulary, and so must the
/// argument of takes() be.
struct ModifierItem {
  llvm::SmallVector<llvm::StringRef, 4> words;
  bool optional = false;
  bool takes_shapes = false;

  [[nodiscard]] bool takes(llvm::StringRef word) const {
    return llvm::any_of(words, [&](llvm::StringRef each) { return each.data() == word.data(); }) ||
           (takes_shapes && is_shape(word));
  }
  /// Calls add(text) for each word, for messages.
  void describe(llvm::function_ref<void(std::string)> add) const {
    for (const llvm::StringRef word : words) add(("." + word).str());
  }
};

void add_words(ModifierItem& item, llvm::StringRef alternatives, Vocabulary& vocabulary) {
  for (const llvm::StringRef word : llvm::split(alternatives, '|')) {
    const auto* found = llvm::find_if(word_classes, [&](const WordClass& c) { return c.name == word; });
    if (found == std::end(word_classes)) {
      item.words.push_back(vocabulary.insert(word).first->getKey());
      item.takes_shapes = item.takes_shapes || word == any_shape;
    } else {
      add_words(item, found->words, vocabulary);
    }
  }
}

bool is_register(const Operand& operand) {
  return operand.kind == Operand::Kind::symbol || operand.kind == Operand::Kind::sink;
}
bool is_scalar(const Operand& operand) {
  return operand.kind == Operand::Kind::symbol || operand.kind == Operand::Kind::immediate;
}
template <Operand::Kind kind>
bool is(const Operand& operand) {
  return operand.kind == kind;
}

/// The operands that a letter of FormRow::operands stands for: one that `fits`, or a vector whose elements
/// all satisfy `fits_element`.
struct OperandClass {
  char letter;
  const char* description;
  bool (*fits)(const Operand&);
  bool (*fits_element)(const Operand&) = nullptr;

  [[nodiscard]] bool takes(const Operand& operand) const {
    return fits(operand) || (fits_element != nullptr && operand.kind == Operand::Kind::vector &&
                             llvm::all_of(operand.elements, fits_element));
  }
};

using Kind = Operand::Kind;
constexpr OperandClass operand_classes[] = {
    {'d', "a register or _", is_register},
    {'D', "a register, _ or a vector {…} of them", is_register, is_register},
    {'e', "a register or two, d|p", [](const Operand& o) { return is_register(o) || o.kind == Kind::pair; }},
    {'s', "a register, literal or symbol", is_scalar},
    {'S', "a register, literal, symbol or a vector {…} of them", is_scalar,
     [](const Operand& o) { return is_scalar(o) || o.kind == Kind::sink; }},
    {'v', "a vector {…}", is<Kind::vector>},
    {'p', "a predicate", [](const Operand& o) { return is_scalar(o) || o.kind == Kind::negated; }},
    {'k', "a literal", is<Kind::immediate>},
    {'m', "an address […]", is<Kind::address>},
    {'t', "a tensor address [map, {coordinates}]", is<Kind::tensor>},
    {'l', "a name", is<Kind::symbol>},
    {'q', "a list (…)", is<Kind::tuple>},
};

struct OperandItem {
  const OperandClass* operands = nullptr;
  bool optional = false;

  [[nodiscard]] bool takes(const Operand& operand) const { return operands->takes(operand); }
  void describe(llvm::function_ref<void(std::string)> add) const { add(operands->description); }
};

struct Form {
  Opcode opcode = Opcode::exit;
  std::vector<ModifierItem> words;  ///< words of the name, then modifiers
  std::size_t name_words = 0;       ///< number of words of the name
  std::vector<OperandItem> operands;
};

Form compile_row(const FormRow& row, Vocabulary& vocabulary) {
  Form form;
  form.opcode = row.opcode;
  for (const llvm::StringRef word : llvm::split(row.name, '.'))
    add_words(form.words.emplace_back(), word, vocabulary);
  form.name_words = form.words.size();
  for (llvm::StringRef text : llvm::split(row.modifiers, ' ')) {
    if (text.empty()) continue;
    ModifierItem& item = form.words.emplace_back();
    item.optional = text.consume_back("?");
    add_words(item, text, vocabulary);
  }
  for (const llvm::StringRef text : llvm::split(row.operands, ' ')) {
    if (text.empty()) continue;
    const auto* found = llvm::find_if(operand_classes, [&](const auto& c) { return c.letter == text[0]; });
    form.operands.push_back({found, text.back() == '?'});
  }
  return form;
}

/// Matches forms against one instruction. After explain(), remembers the furthest failure over all forms.
class Matcher {
 public:
  Matcher(llvm::ArrayRef<llvm::StringRef> words, llvm::ArrayRef<Operand> operands)
      : words_(words), operands_(operands) {}

  bool matches(const Form& form) {
    return match(FormMatch::Fault::modifier, llvm::ArrayRef(form.words), words_, 0,
                 [&] { return takes_operands(form); });
  }

  /// Matches with the modifiers in any order. Returns the name in the form's order; empty if the words do not
  /// match.
  std::string reordered(const Form& form) {
    // A form with fewer words cannot match them all.
    if (words_.size() > form.words.size() || words_.size() < form.name_words) return {};
    for (std::size_t i = 0; i < form.name_words; ++i)
      if (!form.words[i].takes(words_[i])) return {};
    if (words_.size() > form.name_words &&
        llvm::any_of(words_.drop_front(form.name_words + 1),
                     [](llvm::StringRef word) { return must_follow_name(word); }))
      return {};
    Order order(words_.begin(), words_.begin() + form.name_words);
    llvm::SmallVector<Word, 16> words;
    for (const llvm::StringRef word : words_.drop_front(form.name_words)) {
      words.push_back({word, parse_state_space(word)   ? Word::Kind::space
                             : parse_scalar_type(word) ? Word::Kind::type
                                                       : Word::Kind::other});
    }
    const bool taken =
        reorder(llvm::ArrayRef(form.words).drop_front(form.name_words), words, order) && takes_operands(form);
    return taken ? llvm::join(order, ".") : std::string();
  }

  /// Remembers failures from here on, which takes several times as long.
  void explain() { explains_ = true; }
  [[nodiscard]] FormMatch failure() const {
    FormMatch match = furthest_;
    match.expected = llvm::join(expected_, ", ");
    return match;
  }

 private:
  using Order = llvm::SmallVector<llvm::StringRef, 8>;
  /// A modifier, and whether an item of the form has matched it.
  struct Word {
    llvm::StringRef text;
    enum class Kind : std::uint8_t { other, type, space } kind;
    bool taken = false;
  };

  /// Modifiers that ptxas accepts only directly after the name.
  static bool must_follow_name(llvm::StringRef word) {
    constexpr llvm::StringRef words[] = {"wide", "lo", "hi", "parity", "expect_tx", "noComplete"};
    return llvm::is_contained(words, word);
  }

  bool takes_operands(const Form& form) {
    return match(FormMatch::Fault::operand, llvm::ArrayRef(form.operands), operands_, 0, [] { return true; });
  }

  /// Whether the items match all words. Each item takes the first free word that fits; types and state spaces
  /// are taken in the order of the text. Appends the matched words to `order`.
  static bool reorder(llvm::ArrayRef<ModifierItem> items, llvm::MutableArrayRef<Word> words, Order& order) {
    if (items.empty()) return llvm::all_of(words, [](const Word& word) { return word.taken; });
    const ModifierItem& item = items.front();
    const auto first_free = [&](Word::Kind kind) {
      return llvm::find_if(words, [&](const Word& word) { return !word.taken && word.kind == kind; });
    };
    Word* const word = llvm::find_if(words, [&](const Word& each) {
      return !each.taken && item.takes(each.text) &&
             (each.kind == Word::Kind::other || first_free(each.kind) == &each);
    });
    if (word != words.end()) {
      word->taken = true;
      order.push_back(word->text);
      if (reorder(items.drop_front(), words, order)) return true;
      order.pop_back();
      word->taken = false;
    }
    return item.optional && reorder(items.drop_front(), words, order);
  }

  /// Whether the items match all of `given` from `at` on and `match_rest` succeeds. Optional items are tried
  /// with and without a match.
  template <class Item, class Given, class Rest>
  bool match(FormMatch::Fault fault, llvm::ArrayRef<Item> items, llvm::ArrayRef<Given> given, std::size_t at,
             const Rest& match_rest) {
    if (items.empty()) {
      if (at == given.size()) return match_rest();
      if (explains_)
        fail(fault, at, fault == FormMatch::Fault::modifier ? "no further modifier" : "no further operand");
      return false;
    }
    const Item& item = items.front();
    if (at < given.size() && item.takes(given[at])) {
      if (match(fault, items.drop_front(), given, at + 1, match_rest)) return true;
    } else if (explains_) {
      item.describe([&](std::string text) { fail(fault, at, std::move(text)); });
    }
    return item.optional && match(fault, items.drop_front(), given, at, match_rest);
  }

  void fail(FormMatch::Fault fault, std::size_t position, std::string expected) {
    const auto rank = std::pair(fault, position);
    const auto best = std::pair(furthest_.fault, furthest_.position);
    if (rank < best) return;
    if (rank > best) expected_.clear();
    furthest_.fault = fault;
    furthest_.position = position;
    constexpr std::size_t max_expected = 24;  // keeps the message readable
    if (expected_.size() < max_expected && !llvm::is_contained(expected_, expected))
      expected_.push_back(std::move(expected));
  }

  llvm::ArrayRef<llvm::StringRef> words_;
  llvm::ArrayRef<Operand> operands_;
  bool explains_ = false;
  FormMatch furthest_;
  std::vector<std::string> expected_;
};

Operand sample_operand(char letter) {
  Operand symbol;
  symbol.name = "a";
  Operand operand;
  switch (letter) {
    case 'k':
      operand.kind = Kind::immediate;
      operand.value.bits = 1;
      return operand;
    case 'm': operand.kind = Kind::address; break;
    case 't': operand.kind = Kind::tensor; break;
    case 'v': operand.kind = Kind::vector; break;
    case 'q': operand.kind = Kind::tuple; break;
    default: return symbol;
  }
  operand.elements.assign(letter == 't' ? 2 : 1, symbol);
  return operand;
}

}  // namespace

Instruction sample_instruction(const FormRow& row, bool with_optional) {
  Vocabulary vocabulary;
  const Form form = compile_row(row, vocabulary);
  Instruction instruction;
  instruction.opcode = form.opcode;
  for (const ModifierItem& item : form.words) {
    if (item.optional && !with_optional) continue;
    if (!instruction.name.empty()) instruction.name += '.';
    instruction.name += item.takes_shapes ? "m64n8k16" : item.words.front();
  }
  for (const OperandItem& item : form.operands) {
    if (!item.optional || with_optional)
      instruction.operands.push_back(sample_operand(item.operands->letter));
  }
  return instruction;
}

bool writes_first_operand(Opcode opcode) noexcept {
  static const auto writing = [] {
    std::bitset<256> opcodes;
    for (const FormRow& row : form_rows())
      if (llvm::StringRef("dDev").contains(row.operands[0]))
        opcodes.set(static_cast<std::size_t>(row.opcode));
    return opcodes;
  }();
  return writing[static_cast<std::size_t>(opcode)];
}

namespace {

/// The forms of every operation by its first word.
struct FormTable {
  Vocabulary vocabulary;
  llvm::StringMap<std::vector<Form>> forms;

  FormTable() {
    for (const FormRow& row : form_rows())
      forms[llvm::StringRef(row.name).split('.').first].push_back(compile_row(row, vocabulary));
  }
};

}  // namespace

FormMatch match_form(llvm::ArrayRef<llvm::StringRef> words, llvm::ArrayRef<Operand> operands) {
  /// Never destroyed: threads and static objects may parse while the process ends.
  static const FormTable& table = *new FormTable;
  const auto forms = table.forms.find(words.front());
  if (forms == table.forms.end()) return {FormMatch::Fault::opcode, Opcode::unknown, 0, {}, {}};
  llvm::SmallVector<llvm::StringRef, 8> known;
  for (const llvm::StringRef word : words) {
    const auto found = table.vocabulary.find(word);
    known.push_back(found == table.vocabulary.end() ? word : found->getKey());
  }
  Matcher matcher(known, operands);
  for (const Form& form : forms->second) {
    if (matcher.matches(form)) return {FormMatch::Fault::none, form.opcode, 0, {}, {}};
  }
  matcher.explain();
  for (const Form& form : forms->second) (void)matcher.matches(form);
  FormMatch failure = matcher.failure();
  for (const Form& form : forms->second) {
    if (auto name = matcher.reordered(form); !name.empty())
      return {FormMatch::Fault::none, form.opcode, 0, {}, std::move(name)};
  }
  return failure;
}

}  // namespace ptx
TMAJIT_END
