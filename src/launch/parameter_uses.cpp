#include "launch/parameter_uses.hpp"

#include <algorithm>
#include <map>
#include <utility>

TMAJIT_BEGIN
namespace {

using ptx::Operand;
using Kind = ParameterUse::Kind;

/// The bytes of a parameter that a register's value comes from.
struct Origin {
  std::size_t parameter = 0;
  std::uint64_t offset = 0;
  bool is_address = false;  ///< the register has the address of these bytes, not their content
};

class Uses {
 public:
  explicit Uses(const ptx::FlatFunction& entry) : entry_(entry), uses_(entry.function->parameters.size()) {}

  std::vector<std::vector<ParameterUse>> find() {
    // A loop may read a register before the instruction that sets it. The second pass knows such registers.
    for (int pass = 0; pass < 2; ++pass) {
      for (const auto& flat : entry_.instructions) visit(flat);
    }
    for (std::size_t i = 0; i < uses_.size(); ++i) {
      const auto& pointer = entry_.function->parameters[i].pointer;
      if (pointer && (!pointer->space || pointer->space == ptx::StateSpace::global))
        add_use({i, 0, false}, {.kind = Kind::address});
    }
    std::vector<std::vector<ParameterUse>> all;
    for (const auto& found : uses_) all.push_back(without_overlaps(found));
    return all;
  }

 private:
  using Found = std::map<std::uint64_t, ParameterUse>;  ///< by the use's offset

  /// Removes overlapping uses: a map is preferred to an address, and an address to a number.
  static std::vector<ParameterUse> without_overlaps(const Found& found) {
    std::vector<ParameterUse> chosen;
    for (const Kind kind : {Kind::map, Kind::address, Kind::number}) {
      for (const auto& [offset, use] : found) {
        // Copies, since Clang 14 cannot capture structured bindings.
        const auto intersects = [first = offset, end = offset + use.bytes()](const ParameterUse& other) {
          return first < other.offset + other.bytes() && other.offset < end;
        };
        if (use.kind == kind && std::ranges::none_of(chosen, intersects)) chosen.push_back(use);
      }
    }
    std::ranges::sort(chosen, {}, &ParameterUse::offset);
    return chosen;
  }

  void add_use(const Origin& origin, ParameterUse use) {
    use.offset = origin.offset;
    auto& known = uses_[origin.parameter].try_emplace(origin.offset, use).first->second;
    if (use.kind == known.kind) {
      if (use.kind == Kind::number && use.bytes() > known.bytes()) known = use;
      known.rank = std::max(known.rank, use.rank);
      known.im2col |= use.im2col;
      known.loaded |= use.loaded;
      if (!known.elements) known.elements = use.elements;
    } else if (use.kind > known.kind) {
      known = use;
    }
  }

  /// Returns the next binding of the instruction: the thing that a name in an operand stands for.
  const ptx::Binding* next_binding() {
    return binding_ < flat_->bindings.size() ? &flat_->bindings[binding_++] : nullptr;
  }

  static bool is_named(const Operand& operand) {
    return operand.kind == Operand::Kind::symbol || operand.kind == Operand::Kind::negated;
  }

  /// Every name of an operand in the order of the text.
  void collect(const Operand& operand, std::vector<std::pair<const Operand*, const ptx::Binding*>>& names) {
    if (is_named(operand)) names.emplace_back(&operand, next_binding());
    for (const Operand& element : operand.elements) collect(element, names);
  }
  using Names = std::vector<std::pair<const Operand*, const ptx::Binding*>>;

  std::optional<Origin> origin(const Names& names) const {
    return names.empty() ? std::nullopt : origin(*names.front().first, names.front().second);
  }
  std::optional<Origin> origin(const Operand& operand, const ptx::Binding* binding) const {
    if (binding == nullptr) return {};
    if (const auto* const ref = std::get_if<ptx::RegisterRef>(binding)) {
      const auto found = registers_.find(ref->index);
      return found == registers_.end() ? std::nullopt : std::optional(found->second);
    }
    const auto* const variable = std::get_if<const ptx::Variable*>(binding);
    if (variable == nullptr) return {};
    const auto& parameters = entry_.function->parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (&parameters[i] == *variable) return Origin{i, static_cast<std::uint64_t>(operand.offset), true};
    }
    return {};
  }

  void set_origin(const Names& names, const std::optional<Origin>& origin) {
    if (names.empty() || names.front().second == nullptr) return;
    const auto* const ref = std::get_if<ptx::RegisterRef>(names.front().second);
    if (ref != nullptr && origin) registers_[ref->index] = *origin;
  }

  void visit(const ptx::FlatInstruction& flat) {
    flat_ = &flat;
    instruction_ = flat.instruction;
    binding_ = instruction_->guard ? 1 : 0;
    operands_.clear();
    for (const Operand& operand : instruction_->operands) collect(operand, operands_.emplace_back());
    const std::string_view word = instruction_->words().front();
    if (word == "ld" && visit_parameter_load()) return;
    for (std::size_t i = 0; i < instruction_->operands.size(); ++i) visit_memory_operand(i);
    if (operands_.size() < 2) return;
    if (word == "mov" || word == "cvta") {
      const auto from = origin(operands_[1]);
      if (from && !from->is_address && instruction_->has("to") && instruction_->has("global"))
        add_use(*from, {.kind = Kind::address, .loaded = true});
      set_origin(operands_[0], from);
    } else if (word == "cvt") {
      // Some compilers give parameters 32-bit addresses and convert these. Other converted numbers are not
      // addresses.
      const auto from = origin(operands_[1]);
      if (from && from->is_address) set_origin(operands_[0], from);
    } else if (word == "add" || word == "sub" || word == "or") {
      set_origin(operands_[0], sum());
    } else if (operands_.size() > 3 && (word == "mad" || word == "selp")) {
      set_origin(operands_[0], origin(operands_[word == "mad" ? 3 : 1]));
    }
  }

  /// The origin of a sum. The address of parameter bytes plus a constant is such an address; a pointer plus
  /// any offset is still that pointer.
  std::optional<Origin> sum() const {
    const auto a = origin(operands_[1]);
    const auto b = operands_.size() > 2 ? origin(operands_[2]) : std::nullopt;
    if (a && b) return {};
    auto from = a ? a : b;
    if (!from) return {};
    const Operand& other = instruction_->operands[a ? 2 : 1];
    if (from->is_address) {
      if (other.kind != Operand::Kind::immediate) return {};
      // Compilers use "or" as an addition where the parameter's alignment leaves these bits 0.
      from->offset += instruction_->words().front() == "sub" ? 0 - other.value.bits : other.value.bits;
    } else if (instruction_->words().front() == "or" || ptx::bits_of(instruction_->types().back()) != 64) {
      return {};
    }
    return from;
  }

  /// Visits a load. Returns false if it does not load a parameter's bytes.
  bool visit_parameter_load() {
    const Operand& address = instruction_->operands.back();
    const auto from = origin(operands_.back());
    if (address.kind != Operand::Kind::address || !from || !from->is_address || instruction_->types().empty())
      return false;
    // The offset of a name is in its own operand, the offset from a register in the address.
    Origin at = *from;
    at.offset += static_cast<std::uint64_t>(address.offset);
    const ptx::ScalarType type = instruction_->types().back();
    add_use(at, {.type = type, .count = instruction_->vector_width()});
    for (const auto& name : operands_.front()) {
      at.is_address = false;
      set_origin({name}, at);
      at.offset += ptx::bits_of(type) / 8;
    }
    return true;
  }

  /// Examines a memory operand: its address may come from a parameter, or the parameter may be its tensor
  /// map.
  void visit_memory_operand(std::size_t i) {
    const Operand& operand = instruction_->operands[i];
    const bool is_tensor = operand.kind == Operand::Kind::tensor;
    if (!is_tensor && operand.kind != Operand::Kind::address) return;
    const auto from = origin(operands_[i]);
    if (!from) return;
    const bool is_map = is_tensor || instruction_->words().back() == "tensormap";
    if (from->is_address) {
      Origin at = *from;
      at.offset += static_cast<std::uint64_t>(operand.offset);
      const auto rank = static_cast<std::uint32_t>(is_tensor ? operands_[i].size() - 1 : 0);
      if (is_map)
        add_use(at, {.kind = Kind::map, .rank = rank_of(rank), .im2col = instruction_->has("im2col")});
      return;
    }
    const auto spaces = instruction_->spaces();
    const bool is_other_space = !spaces.empty() && spaces.front() != ptx::StateSpace::global &&
                                operands_.size() == 2 && instruction_->words().front() != "cp";
    if (is_other_space) return;
    ParameterUse use{.kind = Kind::address, .loaded = true};
    const auto types = instruction_->types();
    const std::string_view word = instruction_->words().front();
    const bool has_element_type = word == "ld" || word == "st" || word == "atom" || word == "red";
    if (has_element_type && !types.empty()) use.elements = element_type(types.back());
    add_use(*from, use);
  }

  /// The rank, from the instruction's modifier. Without one, `names`: the number of coordinates that are
  /// names, not literals.
  [[nodiscard]] std::uint32_t rank_of(std::uint32_t names) const {
    for (std::uint32_t rank = 1; rank <= 5; ++rank) {
      if (instruction_->has(std::to_string(rank) + "d")) return rank;
    }
    return names;
  }

  /// The element type that an instruction's type gives; nullopt for .bN, which only gives a size.
  static std::optional<ptx::ScalarType> element_type(ptx::ScalarType type) {
    switch (type) {
      case ptx::ScalarType::b8:
      case ptx::ScalarType::b16:
      case ptx::ScalarType::b32:
      case ptx::ScalarType::b64:
      case ptx::ScalarType::b128: return {};
      default: return type;
    }
  }

  const ptx::FlatFunction& entry_;
  std::vector<Found> uses_;
  std::map<std::uint32_t, Origin> registers_;
  const ptx::FlatInstruction* flat_ = nullptr;
  const ptx::Instruction* instruction_ = nullptr;
  std::size_t binding_ = 0;
  std::vector<Names> operands_;
};

}  // namespace

std::uint64_t ParameterUse::bytes() const {
  if (kind != Kind::number) return kind == Kind::map ? 128 : 8;
  return std::uint64_t{std::max(ptx::bits_of(type) / 8, 1U)} * count;
}

std::vector<std::vector<ParameterUse>> parameter_uses(const ptx::FlatFunction& entry) {
  return Uses(entry).find();
}

TMAJIT_END
