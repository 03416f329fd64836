/// Functions of the CUDA device runtime, which a module declares without a body: printf, assert, malloc and
/// free.
#include "sim/cta/cta.hpp"
#include "sim/instructions/select.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// Longest string, in bytes, that printf and assert read from memory.
constexpr std::size_t max_text_bytes = 4096;

template <typename T>
T read_at(Warp& warp, std::uint32_t lane, std::uint64_t address) {
  const Target target = resolve(warp, lane, Space::generic, address, sizeof(T), sizeof(T), false, true);
  check_shadow(warp, lane, target, sizeof(T), false);
  T value;
  std::memcpy(&value, target.memory, sizeof value);
  return value;
}

std::string text_at(Warp& warp, std::uint32_t lane, std::uint64_t address) {
  std::string text;
  while (text.size() < max_text_bytes) {
    const char next = read_at<char>(warp, lane, address++);
    if (next == '\0') break;
    text += next;
  }
  return text;
}

/// Argument i of a runtime call: accesses[aux + i], in local memory. If a is 1, the call has a result, which
/// comes after the arguments.
template <typename T>
T argument(Warp& warp, const MicroOp& op, std::uint32_t i, std::uint32_t lane) {
  return read_at<T>(warp, lane, local_window + address_of(warp, warp.program->accesses[op.aux + i], lane));
}

/// Stores the result of a call with `arguments` arguments, if the call has a result operand.
template <typename T>
void give_result(Warp& warp, const MicroOp& op, std::uint32_t arguments, std::uint32_t lane, T value) {
  if (op.a == 0) return;
  const MemoryAccess& result = warp.program->accesses[op.aux + arguments];
  const Target target =
      resolve(warp, lane, Space::local, address_of(warp, result, lane), sizeof value, sizeof value, true);
  std::memcpy(target.memory, &value, sizeof value);
}

/// Reads the arguments of a printf from the buffer that nvcc fills for vprintf.
class PrintSource {
 public:
  PrintSource(Warp& warp, std::uint32_t lane, std::uint64_t begin) : warp_(warp), lane_(lane), at_(begin) {}

  /// Reads the next argument: `bytes` bytes (4 or 8), aligned to `bytes`.
  [[nodiscard]] std::uint64_t next(std::uint32_t bytes) {
    at_ = align_up(at_, bytes) + bytes;
    ++count_;
    return bytes == 8 ? read_at<std::uint64_t>(warp_, lane_, at_ - 8)
                      : read_at<std::uint32_t>(warp_, lane_, at_ - 4);
  }
  [[nodiscard]] std::string text(std::uint64_t address) const { return text_at(warp_, lane_, address); }
  /// The number of arguments read so far.
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

 private:
  Warp& warp_;
  std::uint32_t lane_;
  std::uint64_t at_;
  std::uint32_t count_ = 0;
};

/// Upper bound of the width and the precision of a conversion.
constexpr int max_width = 1000;

/// A parsed conversion of a format string, such as "%-8.3lld".
struct Conversion {
  std::string flags;
  int width = 0;
  int precision = -1;  ///< -1: none
  bool wide = false;   ///< the argument has 64 bits: l, ll, j, z, t
  char kind = 0;
  std::size_t length = 0;  ///< of its text
};

/// Parses a width or precision: digits, or `*` for the next argument.
int parse_number(std::string_view text, std::size_t& at, PrintSource& source) {
  if (at < text.size() && text[at] == '*') {
    ++at;
    return std::clamp(static_cast<int>(static_cast<std::int32_t>(source.next(4))), -max_width, max_width);
  }
  int value = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
    value = std::min(10 * value + (text[at] - '0'), max_width);
  return value;
}

/// Parses the conversion at the start of `text`, which begins with '%'.
Conversion parse(std::string_view text, PrintSource& source) {
  Conversion conversion;
  std::size_t at = 1;
  for (; at < text.size() && std::string_view("-+ #0").find(text[at]) != std::string_view::npos; ++at) {
    if (conversion.flags.find(text[at]) == std::string::npos) conversion.flags += text[at];
  }
  if (at < text.size() && (text[at] == '*' || (text[at] >= '1' && text[at] <= '9')))
    conversion.width = parse_number(text, at, source);
  if (conversion.width < 0) conversion.flags += '-';  // in C, a negative width means left-justified
  conversion.width = std::abs(conversion.width);
  if (at < text.size() && text[at] == '.') {
    ++at;
    conversion.precision = parse_number(text, at, source);
  }
  for (; at < text.size() && std::string_view("hljztL").find(text[at]) != std::string_view::npos; ++at)
    conversion.wide = conversion.wide || (text[at] != 'h' && text[at] != 'L');
  if (at < text.size()) conversion.kind = text[at++];
  conversion.length = at;
  return conversion;
}

/// Formats one argument with the host's printf. `size`: its length modifier.
template <typename T>
std::string print_one(const Conversion& conversion, const char* size, char kind, T value) {
  const std::string format = "%" + conversion.flags + "*.*" + size + kind;
  std::array<char, 2 * max_width + 400> buffer{};  // the longest double has 309 digits before its point
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"  // the format is made above from checked parts
  const int length = std::snprintf(buffer.data(), buffer.size(), format.c_str(), conversion.width,
                                   conversion.precision, value);
#pragma GCC diagnostic pop
  return {buffer.data(),
          std::min<std::size_t>(static_cast<std::size_t>(std::max(length, 0)), buffer.size() - 1)};
}

/// Formats the arguments of a printf as C does. Unknown conversions are copied unchanged.
std::string format_print(std::string_view format, PrintSource& source) {
  std::string result;
  while (!format.empty()) {
    const std::size_t percent = format.find('%');
    result += format.substr(0, percent);
    if (percent == std::string_view::npos) break;
    format.remove_prefix(percent);
    const Conversion conversion = parse(format, source);
    const auto is = [&](std::string_view kinds) {
      return kinds.find(conversion.kind) != std::string_view::npos;
    };
    if (is("di")) {
      const auto bits = source.next(conversion.wide ? 8 : 4);
      result += print_one(conversion, "ll", conversion.kind,
                          conversion.wide ? static_cast<long long>(bits)
                                          : static_cast<long long>(static_cast<std::int32_t>(bits)));
    } else if (is("uoxX")) {
      result += print_one(conversion, "ll", conversion.kind,
                          static_cast<unsigned long long>(source.next(conversion.wide ? 8 : 4)));
    } else if (is("c")) {
      result += print_one(conversion, "", conversion.kind, static_cast<int>(source.next(4) & 0xff));
    } else if (is("eEfFgGaA")) {
      result += print_one(conversion, "", conversion.kind, std::bit_cast<double>(source.next(8)));
    } else if (is("s")) {
      result += print_one(conversion, "", conversion.kind, source.text(source.next(8)).c_str());
    } else if (is("p")) {
      result += print_one(Conversion{.flags = "#", .width = conversion.width}, "ll", 'x',
                          static_cast<unsigned long long>(source.next(8)));
    } else {
      result += is("%") ? "%" : format.substr(0, conversion.length);
    }
    format.remove_prefix(conversion.length);
  }
  return result;
}

/// vprintf(format, arguments). Returns the number of arguments printed (CUDA C++ Programming Guide,
/// "Formatted Output").
void print_formatted(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    PrintSource arguments(warp, lane, argument<std::uint64_t>(warp, op, 1, lane));
    warp.cta->launch.print(
        format_print(text_at(warp, lane, argument<std::uint64_t>(warp, op, 0, lane)), arguments));
    give_result(warp, op, 2, lane, arguments.count());
  });
}

/// __assertfail(message, file, line, function, size of a character). Reports rule `trap`.
void fail_assertion(Warp& warp, const MicroOp& op, Mask mask) {
  const auto lane = first_lane(mask);
  const auto text = [&](std::uint32_t i) {
    return text_at(warp, lane, argument<std::uint64_t>(warp, op, i, lane));
  };
  warp.stop(lane, "trap",
            fmt::format("assertion `{}' failed in {}, {}:{}", text(0), text(3), text(1),
                        argument<std::uint32_t>(warp, op, 2, lane)));
}

HeapCall heap_call(const Warp& warp, std::uint32_t lane) {
  const Cta& cta = *warp.cta;
  const auto& locations = cta.program.locations;
  const std::uint32_t location = warp.location();
  return {.launch = cta.launch.number,
          .location = location,
          .ptx_line = location < locations.size() ? locations[location].line : 0,
          .cta = cta.ctaid,
          .thread = cta.thread_index(warp.thread(lane))};
}

/// malloc(bytes)
void allocate_block(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    const auto bytes = argument<std::uint64_t>(warp, op, 0, lane);
    const DeviceHeap::Allocation allocation = warp.cta->launch.heap->allocate(bytes, heap_call(warp, lane));
    // For the race detector, allocating reused memory acquires the free of the previous block (see
    // trace_free).
    if (allocation.reused && warp.cta->races) {
      std::array<std::uint64_t, lanes> at{};
      at[lane] = heap_begin;
      const WarpAccess acquire{Memory::global, 8, true, {.strong = true, .acquires = true}};
      warp.cta->races->after(warp, 1U << lane, acquire, at);
    }
    give_result(warp, op, 1, lane, allocation.address);
  });
}

/// Records a free for the race detector: a write of the whole block, then a release at heap_begin, which a
/// later allocation of the memory acquires.
void trace_free(Warp& warp, std::uint32_t lane, std::uint64_t begin, std::uint64_t bytes) {
  if (!warp.cta->races) return;
  Races& races = *warp.cta->races;
  std::array<std::uint64_t, lanes> at{};
  for (at[lane] = begin; at[lane] < begin + bytes;) {
    // An access must not cross a line of the shadow.
    const std::uint64_t end = std::min(begin + bytes, (at[lane] / line_bytes + 1) * line_bytes);
    const auto part = static_cast<std::uint32_t>(end - at[lane]);
    races.access(warp, {Memory::global, part, true, {}}, at, 1U << lane);
    at[lane] = end;
  }
  at[lane] = heap_begin;
  const WarpAccess release{Memory::global, 8, true, {.strong = true, .releases = true}};
  races.before(warp, 1U << lane, release, at);
  races.after(warp, 1U << lane, release, at);
}

/// free(pointer)
void free_block(Warp& warp, const MicroOp& op, Mask mask) {
  DeviceHeap& heap = *warp.cta->launch.heap;
  for_lanes(mask, [&](std::uint32_t lane) {
    const auto address = argument<std::uint64_t>(warp, op, 0, lane);
    if (address == 0) return;
    const auto block = heap.block(address);
    // Record the free before it happens, because another host thread may allocate the memory right after.
    if (block && !block->freed) trace_free(warp, lane, address, block->bytes);
    switch (heap.free(address, heap_call(warp, lane))) {
      case DeviceHeap::FreeError::none: return;
      case DeviceHeap::FreeError::already_freed:
        return warp.report(lane, "heap.double-free",
                           fmt::format("a free of {:#x}: {}", address, heap.describe(address, 1)));
      default:
        return warp.report(
            lane, "heap.free",
            fmt::format("a free of {:#x}: {}", address, warp.cta->describe_global(address, 1)));
    }
  });
}

struct RuntimeFunction {
  std::string_view name;
  std::size_t arguments;
  Handler handler;
  bool uses_heap = false;
};
constexpr RuntimeFunction functions[] = {
    {"vprintf", 2, &print_formatted},
    {"__assertfail", 5, &fail_assertion},
    {"malloc", 1, &allocate_block, true},
    {"free", 1, &free_block, true},
};

}  // namespace

void select_runtime_call(Decoder& d, const ptx::Function& function, const std::vector<Arg>& results,
                         const std::vector<Arg>& arguments) {
  const auto* const found = std::ranges::find(functions, function.name, &RuntimeFunction::name);
  if (found == std::end(functions))
    d.unsupported(fmt::format("a call of {}, which has no body in this module,", function.name));
  if (arguments.size() != found->arguments) d.unsupported("this number of arguments");
  const auto first = static_cast<std::uint32_t>(d.program().accesses.size());
  for (const auto* list : {&arguments, &results}) {
    for (const Arg& arg : *list) {
      if (arg.param_variable == nullptr) d.unsupported("an argument that is no .param");
      d.program().accesses.push_back(arg.access);
    }
  }
  if (found->uses_heap) d.program().uses_heap = true;
  d.emit(found->handler, 0, static_cast<Slot>(results.size()), 0, 0, first);
}

}  // namespace sim
TMAJIT_END
