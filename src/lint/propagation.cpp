#include "lint/propagation.hpp"

#include <algorithm>
#include <utility>

#include <llvm/ADT/STLExtras.h>

TMAJIT_BEGIN
namespace lint {
namespace {

/// After this many passes, values that still change become unknown.
constexpr std::uint32_t exact_passes = 6;
/// After this many passes, all registers with a slot become unknown.
constexpr std::uint32_t max_passes = 12;
/// Before this pass, values at back edges may be those of the first iterations only.
constexpr std::uint32_t first_loop_pass = 3;
/// Limit of contents kept at the ends of blocks, 100 bytes each.
constexpr std::size_t max_contents = 1'000'000;

}  // namespace

Propagation::Propagation(const ptx::FlatFunction& function, const ptx::ControlFlow& flow, Values& values,
                         Conditions& conditions)
    : function_(function), flow_(flow), values_(values), conditions_(conditions) {
  find_slots();
  solve();
}

void Propagation::find_slots() {
  const std::size_t count = function_.registers.size();
  constexpr std::uint32_t unwritten = ~0U;
  std::vector<std::uint32_t> writer(count, unwritten);
  std::vector<bool> read_unwritten(count, false);
  slot_of_.assign(count, single);
  single_.resize(count);
  readers_.resize(count);
  const auto need_slot = [&](std::uint32_t reg) {
    if (slot_of_[reg] != single) return;
    slot_of_[reg] = static_cast<std::uint32_t>(register_of_.size());
    register_of_.push_back(reg);
  };
  const auto reachable = [&](std::uint32_t i) {
    return flow_.rank(flow_.block_of(i)) != ptx::ControlFlow::unreachable;
  };
  for (std::uint32_t i = 0; i < function_.instructions.size(); ++i) {
    if (!reachable(i)) continue;
    const ptx::FlatInstruction& flat = function_.instructions[i];
    for_each_written(flat, [&](std::uint32_t reg, std::uint32_t) {
      if (writer[reg] != unwritten || flat.instruction->guard) need_slot(reg);
      writer[reg] = i;
    });
  }
  for (std::uint32_t i = 0; i < function_.instructions.size(); ++i) {
    if (!reachable(i)) continue;
    std::uint32_t own_result = unwritten;
    for (const ptx::Binding& binding : function_.instructions[i].bindings) {
      const auto* reg = std::get_if<ptx::RegisterRef>(&binding);
      if (reg == nullptr || slot_of_[reg->index] != single) continue;
      const std::uint32_t writing_instruction = writer[reg->index];
      if (writing_instruction == i && own_result != reg->index) {
        // The first binding is the result, not an operand.
        own_result = reg->index;
        continue;
      }
      if (writing_instruction == unwritten || writing_instruction == i) {
        if (!read_unwritten[reg->index]) never_written_.push_back(reg->index);
        read_unwritten[reg->index] = true;
        continue;
      }
      const std::uint32_t from = flow_.block_of(writing_instruction);
      const std::uint32_t to = flow_.block_of(i);
      if (from == to ? writing_instruction > i : !flow_.dominates(from, to)) need_slot(reg->index);
      auto& readers = readers_[reg->index];
      if (from != to && (readers.empty() || readers.back() != to)) readers.push_back(to);
    }
  }
  current_.resize(register_of_.size());
  live_known_ = live_.find(function_, flow_, slot_of_, register_of_.size());
  give_up_slots_ = !live_known_ || live_.size() > max_contents;
  leaving_.resize(give_up_slots_ ? 0 : flow_.blocks().size());
  entering_.resize(leaving_.size());
  executed_.assign(flow_.blocks().size(), false);
  stale_.assign(flow_.blocks().size(), true);
  begins_loop_.resize(flow_.blocks().size());
  for (const std::uint32_t block : flow_.order()) {
    begins_loop_[block] = llvm::any_of(flow_.predecessors(block), [&](std::uint32_t from) {
      return flow_.rank(from) != ptx::ControlFlow::unreachable && flow_.retreats(from, block);
    });
  }
}

std::vector<std::uint32_t> Propagation::unwritten() const {
  std::vector<std::uint32_t> all;
  // Registers that got a slot later are added below.
  llvm::copy_if(never_written_, std::back_inserter(all),
                [&](std::uint32_t reg) { return slot_of_[reg] == single; });
  if (!live_known_) return all;
  for (const std::uint32_t slot : live_.in(0)) all.push_back(register_of_[slot]);
  return all;
}

void Propagation::solve() {
  for (std::uint32_t n = 0; n < max_passes; ++n) {
    widen_ = n >= exact_passes;
    knows_loops_ = n >= first_loop_pass;
    if (n == first_loop_pass) counters_changed_ = true;
    if (!pass() && (knows_loops_ || !llvm::is_contained(begins_loop_, true))) {
      is_stable_ = !symbols_changed_;
      return;
    }
  }
  // Registers with a slot become unknown, so that another pass would change nothing.
  give_up_slots_ = true;
  pass();
}

bool Propagation::pass() {
  changed_ = false;
  if (std::exchange(counters_changed_, false)) {
    for (const std::uint32_t block : flow_.order()) stale_[block] = stale_[block] || begins_loop_[block];
  }
  const bool all = give_up_slots_ || widen_ || symbols_changed_;
  const std::uint64_t changes = values_.changes();
  for (const std::uint32_t block : flow_.order()) {
    if (!all && !stale_[block]) continue;
    stale_[block] = false;
    enter(block);
    for (std::uint32_t i = flow_.blocks()[block].first; i < flow_.blocks()[block].last; ++i) execute(i);
    if (!give_up_slots_) leave(block);
  }
  symbols_changed_ = values_.changes() != changes;
  return changed_;
}

void Propagation::leave(std::uint32_t block) {
  std::vector<Content>& leaving = leaving_[block];
  const auto slots = live_.out(block);
  bool changed = !executed_[block];
  executed_[block] = true;
  leaving.resize(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (leaving[i] == current_[slots[i]]) continue;
    leaving[i] = current_[slots[i]];
    changed = true;
  }
  if (!changed) return;
  changed_ = true;
  for (const ptx::Edge& edge : flow_.blocks()[block].edges) stale_[edge.target] = true;
}

void Propagation::visit(llvm::function_ref<void(std::uint32_t)> each) {
  for (const std::uint32_t block : flow_.order()) {
    enter(block);
    for (std::uint32_t i = flow_.blocks()[block].first; i < flow_.blocks()[block].last; ++i) {
      place_ = i;
      each(i);
      // Without a slot, a register already has its content.
      if (!is_stable_ || writes_slot(i)) execute(i);
    }
  }
}

void Propagation::enter(std::uint32_t block) {
  home_ = static_cast<std::int32_t>(flow_.rank(block));
  if (give_up_slots_) {
    for (std::uint32_t slot = 0; slot < current_.size(); ++slot) current_[slot] = forgotten(block, slot);
  } else {
    // The content of registers that are not live does not matter.
    const auto slots = live_.in(block);
    std::vector<Content>& entering = entering_[block];
    const bool is_known = entering.size() == slots.size();
    AllIncoming incoming = this->incoming(block);
    for (std::size_t i = 0; i < slots.size(); ++i)
      current_[slots[i]] = merge(block, slots[i], incoming, is_known ? &entering[i] : nullptr);
    if (!begins_loop_[block]) return;
    entering.resize(slots.size());
    for (std::size_t i = 0; i < slots.size(); ++i) entering[i] = current_[slots[i]];
  }
}

Propagation::AllIncoming Propagation::incoming(std::uint32_t block) const {
  AllIncoming all;
  for (const std::uint32_t from : flow_.predecessors(block)) {
    if (flow_.rank(from) == ptx::ControlFlow::unreachable || !executed_[from]) continue;
    const bool is_loop = begins_loop_[block] && flow_.retreats(from, block);
    all.push_back({from, is_loop, live_.out(from), leaving_[from].data()});
  }
  return all;
}

Content Propagation::forgotten(std::uint32_t block, std::uint32_t slot) {
  Content content;
  const ptx::ScalarType type = function_.registers[register_of_[slot]].type;
  if (type == ptx::ScalarType::pred) content.formula = joined_flag({key_merge, block, slot});
  if (const std::uint32_t width = value_width(type); width != 0) content.value = Values::unknown(width);
  return content;
}

Content Propagation::merge(std::uint32_t block, std::uint32_t slot, AllIncoming& incoming,
                           const Content* before) {
  const JoinKey key{key_merge, block, slot};
  values_.settle();
  Content merged;
  bool first = true;
  // A loop's counter is in step if all lanes of a warp begin with the same value and change it equally.
  bool in_step = true;
  std::uint32_t entries = 0;
  const bool loop = begins_loop_[block];
  for (Incoming& each : incoming) {
    const Content& arriving = each.of(slot);
    const bool is_loop = each.is_loop;
    if (loop) in_step = in_step && arriving.value && !values_.varies(*arriving.value);
    if (!is_loop) ++entries;
    if (!is_loop) {
      if (first) {
        merged = arriving;
        // An exact value merged with itself is unchanged.
      } else if (arriving != merged || (arriving.value && !arriving.value->exact())) {
        merged = join(merged, arriving, key);
      }
    } else {
      Content content = arriving;
      // Content that the loop leaves unchanged adds nothing to the content that entered the loop.
      if (before != nullptr && content == *before && !first) continue;
      if (content.value) {
        const auto flag = conditions_.indicated(*content.value);
        content.value = flag && conditions_.home(*flag) >= home_
                            ? conditions_.indicator(joined_flag(key), content.value->width)
                            : values_.before(*content.value, home_);
      }
      if (content.formula && conditions_.home(*content.formula) >= home_) content.formula = joined_flag(key);
      merged = first ? std::move(content) : join(merged, content, key);
    }
    first = false;
  }
  if (merged.value && loop) {
    const SymbolId rest = values_.named(key, [&] { return Symbol{.home = home_, .per_thread = true}; });
    const bool same = in_step && entries == 1;
    const bool changed = knows_loops_ ? values_.note_same_each_time(rest, same) : !same;
    changed_ = changed || changed_;
    counters_changed_ = counters_changed_ || changed;
    if (!knows_loops_) (void)values_.note_same_each_time(rest, true);
  }
  // Content of a back edge is known in part only; a new symbol stands for the rest.
  if (merged.value && !merged.value->exact()) *merged.value = join(*merged.value, *merged.value, key);
  return merged;
}

Formula Propagation::joined_flag(const JoinKey& key) {
  return conditions_.flag({~0ULL, key[0], key[1], key[2]},
                          [&] { return Subject{.home = home_, .per_thread = true}; });
}

Content Propagation::join(const Content& a, const Content& b, const JoinKey& key) {
  Content joined{a.value ? a.value : b.value, a.formula ? a.formula : b.formula};
  if (a.value && b.value) joined.value = join(*a.value, *b.value, key);
  if (a.formula && b.formula && *a.formula != *b.formula) joined.formula = joined_flag(key);
  return joined;
}

std::optional<Value> Propagation::joined_indicators(const Value& a, const Value& b, const JoinKey& key) {
  if (!conditions_.indicated(a) || !conditions_.indicated(b)) return std::nullopt;
  return conditions_.indicator(joined_flag(key), a.width);
}

void Propagation::for_each_arrival(VisitArrival visit) {
  if (give_up_slots_) return;
  for (const std::uint32_t block : flow_.order()) {
    if (flow_.predecessors(block).size() < 2) continue;
    home_ = static_cast<std::int32_t>(flow_.rank(block));
    const auto slots = live_.in(block);
    AllIncoming incoming = this->incoming(block);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const std::uint32_t slot = slots[i];
      const Content merged =
          merge(block, slot, incoming, entering_[block].empty() ? nullptr : &entering_[block][i]);
      const auto formula = merged.value ? conditions_.indicated(*merged.value) : merged.formula;
      const bool is_flag = formula && conditions_.is_flag(*formula);
      const auto subject = is_flag        ? std::optional(conditions_.flag_subject(*formula))
                           : merged.value ? conditions_.compared_subject(*merged.value)
                                          : std::nullopt;
      if (!subject || conditions_.subject(*subject).home != home_) continue;
      for (Incoming& each : incoming) {
        Content content = each.of(slot);
        if (is_flag && content.value) content = {std::nullopt, conditions_.indicated(*content.value)};
        if (!is_flag && content.value)
          content.value =
              values_.subtract(*content.value, Values::constant(merged.value->constant, merged.value->width));
        visit(block, each.from, *subject, std::move(content));
      }
    }
  }
}

Value Propagation::join(const Value& a, const Value& b, const JoinKey& key) {
  if (Values::same(a, b) && a.most == b.most) return a;
  if (auto flags = joined_indicators(a, b, key)) return *flags;
  Value common = widen_ ? Values::unknown(a.width) : values_.common(a, b);
  const std::uint64_t most = widen_ || a.most != b.most ? low_bits(a.width) : a.most;
  const SymbolId rest = values_.named(key, [&] { return Symbol{.home = home_, .per_thread = true}; });
  values_.inherit(rest, a);
  values_.inherit(rest, b);
  return values_.completed(std::move(common), rest, most);
}

void Propagation::execute(std::uint32_t instruction) {
  place_ = instruction;
  const ptx::FlatInstruction& flat = function_.instructions[instruction];
  if (!writes_first(*flat.instruction)) return;
  const Formula passes = guard(flat);
  for_each_written(flat, [&](std::uint32_t reg, std::uint32_t element) {
    const ptx::Register& target = function_.registers[reg];
    Content content;
    if (target.vector_width == 1) content = evaluate(*this, flat, target.type, element);
    write(reg, element, passes, std::move(content));
  });
}

bool Propagation::writes_slot(std::uint32_t instruction) const {
  bool writes = false;
  for_each_written(function_.instructions[instruction],
                   [&](std::uint32_t reg, std::uint32_t) { writes = writes || slot_of_[reg] != single; });
  return writes;
}

void Propagation::write(std::uint32_t reg, std::uint32_t element, Formula guard, Content&& content) {
  if (guard == never) return;
  if (guard != always) {
    values_.settle();
    content = chosen(guard, content, this->content(reg), {key_guarded, place_, element});
  }
  if (slot_of_[reg] != single) {
    current_[slot_of_[reg]] = std::move(content);
  } else if (single_[reg] != content) {
    single_[reg] = std::move(content);
    changed_ = true;
    for (const std::uint32_t block : readers_[reg]) stale_[block] = true;
  }
}

Content Propagation::chosen(Formula formula, const Content& a, const Content& b, const JoinKey& key) {
  Content result = join(b, a, key);
  if (a.formula && b.formula && *a.formula != *b.formula) {
    result.formula = conditions_.disjunction(conditions_.conjunction(formula, *a.formula),
                                             conditions_.conjunction(negation(formula), *b.formula));
  }
  if (a.value && b.value) {
    if (auto value = conditions_.chosen(formula, *a.value, *b.value)) result.value = std::move(*value);
  }
  return result;
}

Value Propagation::read(const ptx::FlatInstruction& flat, ptx::BoundOperand bound, std::uint32_t width) {
  const ptx::Operand& operand = *bound.operand;
  if (operand.kind == ptx::Operand::Kind::immediate) return Values::constant(operand.value.bits, width);
  if (operand.kind != ptx::Operand::Kind::symbol) return Values::unknown(width);
  const ptx::Binding& binding = flat.bindings[bound.binding];
  Value value = Values::unknown(width);
  if (const auto* reg = std::get_if<ptx::RegisterRef>(&binding)) {
    if (operand.component.empty()) {
      const Content& register_content = content(reg->index);
      if (register_content.value)
        value = register_content.value->width == width
                    ? *register_content.value
                    : values_.convert(*register_content.value, width, false);
    }
  } else if (const auto* variable = std::get_if<const ptx::Variable*>(&binding)) {
    value = Values::of(values_.address_of(**variable), width);
  } else if (const auto* special = std::get_if<ptx::SpecialRef>(&binding)) {
    if (special->name == "WARP_SZ") return Values::constant(32, width);
    const std::string_view name = special->name;
    // These change from read to read: %clock, %clock64, %globaltimer and the %pm counters.
    const bool same_always = name.find("clock") == std::string::npos &&
                             name.find("timer") == std::string::npos && name.find("pm") == std::string::npos;
    Key key{key_special, same_always ? ~0ULL : place_};
    for (const std::string_view part : {name, std::string_view("."), std::string_view(operand.component)})
      key.append(part.begin(), part.end());
    const bool is_tid = name == "%tid";
    const bool shared_by_cta = name == "%ctaid" || name == "%nctaid" || name == "%ntid" ||
                               name == "%nwarpid" || name.find("cluster") != std::string::npos ||
                               name.find("smem") != std::string::npos;
    const std::uint64_t most = is_tid ? 1023 : name == "%laneid" ? 31 : name == "%ntid" ? 1024 : ~0ULL;
    const SymbolId id = values_.named(key, [&] {
      return Symbol{.home = same_always ? Symbol::invariant : home_,
                    .per_thread = !shared_by_cta,
                    .thread_index = is_tid && operand.component == "x",
                    .most = most};
    });
    value = Values::of(id, width, 1, most);
  }
  if (operand.offset == 0) return value;
  return values_.add(value, Values::constant(static_cast<std::uint64_t>(operand.offset), width));
}

Value Propagation::address(const ptx::FlatInstruction& flat, ptx::BoundOperand bound) {
  Value base = Values::constant(0, 64);
  std::uint32_t width = 64;
  if (!bound.operand->elements.empty()) {
    const ptx::BoundOperand element = bound_elements(bound)[0];
    if (element.operand->kind == ptx::Operand::Kind::symbol) {
      if (const auto* reg = std::get_if<ptx::RegisterRef>(&flat.bindings[element.binding]))
        width = value_width(function_.registers[reg->index].type);
    }
    if (width < 32) width = 32;
    base = read(flat, element, width);
  }
  if (bound.operand->offset == 0) return base;
  return values_.add(base, Values::constant(static_cast<std::uint64_t>(bound.operand->offset), base.width));
}

Formula Propagation::predicate(const ptx::FlatInstruction& flat, ptx::BoundOperand bound) {
  const ptx::Operand& operand = *bound.operand;
  if (operand.kind == ptx::Operand::Kind::immediate) return operand.value.bits != 0 ? always : never;
  const bool negated = operand.kind == ptx::Operand::Kind::negated;
  if (negated || operand.kind == ptx::Operand::Kind::symbol) {
    if (const auto* reg = std::get_if<ptx::RegisterRef>(&flat.bindings[bound.binding])) {
      const Content& register_content = content(reg->index);
      const Formula formula = register_content.formula ? *register_content.formula : opaque(1);
      return negated ? negation(formula) : formula;
    }
  }
  return opaque(1);
}

Formula Propagation::guard(const ptx::FlatInstruction& flat) {
  if (!flat.instruction->guard) return always;
  Formula formula = opaque(0);
  if (const auto* reg = std::get_if<ptx::RegisterRef>(&flat.bindings[0])) {
    if (const Content& register_content = content(reg->index); register_content.formula)
      formula = *register_content.formula;
  }
  return flat.instruction->guard->negated ? negation(formula) : formula;
}

}  // namespace lint
TMAJIT_END
