#include "view/ptx_lines.hpp"

#include "ptx/liveness.hpp"
#include "ptx/operands.hpp"
#include "ptx/parser.hpp"
#include "ptx/resolve.hpp"
#include "view/inlined_names.hpp"

#include <algorithm>
#include <numeric>

#include <llvm/ADT/StringRef.h>

TMAJIT_BEGIN
namespace view {
namespace {

/// Adds the locations of a function's frames. Returns the index of each.
std::vector<std::uint32_t> add_frames(const ptx::FlatFunction& function, const InlinedNames& names,
                                      Locations& locations) {
  std::vector<std::uint32_t> added;
  // A caller's frame has a smaller index than its callee's.
  for (std::uint32_t i = 0; i < function.frames.size(); ++i) {
    const ptx::SourceFrame& frame = function.frames[i];
    if (frame.at.line == 0) {
      added.push_back(Location::none);
      continue;
    }
    const std::uint32_t inlined_at =
        frame.caller == ptx::SourceFrame::none ? Location::none : added[frame.caller];
    added.push_back(locations.add(frame.at.path, frame.at.line, inlined_at, names.name_of(function, i)));
  }
  return added;
}

/// The set of live registers, while a block's instructions are visited from the last to the first.
class LiveSet {
 public:
  explicit LiveSet(const ptx::FlatFunction& function)
      : function_(function), is_live_(function.registers.size()) {}

  /// Begins a block at whose end `registers` are live.
  void begin(llvm::ArrayRef<std::uint32_t> registers) {
    std::fill(is_live_.begin(), is_live_.end(), false);
    count_ = {};
    for (const std::uint32_t each : registers) set(each, true);
  }
  /// Steps back over an instruction. Returns the number of registers that are live at it.
  LiveRegisters step(const ptx::FlatInstruction& flat) {
    std::vector<std::uint32_t> not_live_before;
    ptx::for_each_written(flat, [&](std::uint32_t each, std::uint32_t) {
      // A guarded write may leave a value that is read later, so the register stays live.
      if (!flat.instruction->guard || !is_live_[each]) not_live_before.push_back(each);
      set(each, true);
    });
    ptx::for_each_read(flat, [&](std::uint32_t each) { set(each, true); });
    const LiveRegisters at = count_;
    for (const std::uint32_t each : not_live_before) set(each, false);
    // The instruction may also read a register that it writes.
    ptx::for_each_read(flat, [&](std::uint32_t each) { set(each, true); });
    return at;
  }

 private:
  void set(std::uint32_t index, bool live) {
    if (is_live_[index] == live) return;
    is_live_[index] = live;
    const ptx::Register& reg = function_.registers[index];
    auto& count = reg.type == ptx::ScalarType::pred ? count_.predicates : count_.words;
    const std::uint32_t size = (ptx::bits_of(reg.type) + 31) / 32 * reg.vector_width;
    count = live ? count + size : count - size;
  }

  const ptx::FlatFunction& function_;
  std::vector<bool> is_live_;
  LiveRegisters count_;
};

void add_live(const ptx::FlatFunction& function, PtxLines& lines) {
  const bool is_known = std::ranges::none_of(function.instructions, [](const auto& flat) {
    return flat.instruction->opcode == ptx::Opcode::unknown;
  });
  if (!is_known) return;
  const ptx::ControlFlow flow(function);
  std::vector<std::uint32_t> slots(function.registers.size());
  std::iota(slots.begin(), slots.end(), 0U);
  ptx::Liveness liveness;
  if (!liveness.find(function, flow, slots, slots.size())) return;
  LiveSet live(function);
  for (const std::uint32_t block : flow.order()) {
    live.begin(liveness.out(block));
    for (std::uint32_t i = flow.blocks()[block].last; i-- > flow.blocks()[block].first;) {
      const ptx::FlatInstruction& flat = function.instructions[i];
      lines.facts[flat.instruction->location.line - 1].live = live.step(flat);
    }
  }
}

/// Whether an instruction ends on this line.
bool ends_statement(const std::string& text) {
  return text.find(';') != std::string::npos;
}

void add_function(const ptx::FlatFunction& function, const InlinedNames& inlined, Locations& locations,
                  PtxLines& lines) {
  const auto added = add_frames(function, inlined, locations);
  for (const ptx::FlatInstruction& flat : function.instructions) {
    ++lines.opcodes[flat.instruction->words().front().str()];
    if (flat.frame == ptx::SourceFrame::none) continue;
    std::size_t line = flat.instruction->location.line - 1;
    lines.facts[line].location = added[flat.frame];
    while (!ends_statement(lines.texts[line]) && line + 1 < lines.texts.size())
      lines.facts[++line].location = added[flat.frame];
  }
  add_live(function, lines);
}

}  // namespace

PtxLines read_ptx(std::string_view ptx, Locations& locations) {
  PtxLines lines;
  for (llvm::StringRef rest(ptx.data(), ptx.size()), each; !rest.empty();) {
    std::tie(each, rest) = rest.split('\n');
    lines.texts.push_back(each.rtrim('\r').str());
  }
  lines.facts.resize(lines.texts.size());
  const auto parsed = ptx::parse(ptx);
  if (!parsed) {
    lines.missing_reason = "the PTX does not parse: " + parsed.report;
    return lines;
  }
  const ptx::ModuleNames names(*parsed.module);
  const InlinedNames inlined(*parsed.module);
  for (const auto& directive : parsed.module->directives) {
    if (const auto* const file = std::get_if<ptx::File>(&directive); file != nullptr && file->index == 1)
      lines.main_path = file->name;
    const auto* const function = std::get_if<ptx::Function>(&directive);
    if (function == nullptr || !function->body) continue;
    if (const auto flat = resolve(names, *function)) {
      add_function(*flat.function, inlined, locations, lines);
    } else {
      lines.missing_reason =
          "function " + function->name + " does not resolve: " + flat.diagnostics.front().message;
    }
  }
  return lines;
}

}  // namespace view
TMAJIT_END
