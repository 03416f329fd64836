/// Functions of the CUDA device runtime: printf and assert.
#include "sim/call.hpp"
#include "sim/memory_access.hpp"
#include "sim/printf.hpp"

#include <cstring>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

/// More than any line that a kernel prints.
constexpr std::size_t longest_text = 4096;

template <typename T>
T read_at(Warp& warp, std::uint32_t lane, std::uint64_t address) {
  const Target target = resolve(warp, lane, Space::generic, address, sizeof(T), sizeof(T), false, true);
  if (target.shared) check_shared_read(warp, lane, {target.owner, target.offset}, sizeof(T));
  T value;
  std::memcpy(&value, target.memory, sizeof value);
  return value;
}

std::string text_at(Warp& warp, std::uint32_t lane, std::uint64_t address) {
  std::string text;
  while (text.size() < longest_text) {
    const char next = read_at<char>(warp, lane, address++);
    if (next == '\0') break;
    text += next;
  }
  return text;
}

/// Argument i of the call.
template <typename T>
T argument(Warp& warp, const MicroOp& op, std::uint32_t i, std::uint32_t lane) {
  const MemoryAccess& access = warp.program->accesses[op.aux + i];
  const Target target =
      resolve(warp, lane, Space::local, address_of(warp, access, lane), sizeof(T), sizeof(T), false);
  T value;
  std::memcpy(&value, target.memory, sizeof value);
  return value;
}

}  // namespace

void print_formatted(Warp& warp, const MicroOp& op, Mask mask) {
  for_lanes(mask, [&](std::uint32_t lane) {
    std::uint64_t at = argument<std::uint64_t>(warp, op, 1, lane);
    const PrintSource source{[&](std::uint32_t bytes) {
                               at = (at + bytes - 1) / bytes * bytes;
                               const std::uint64_t value = bytes == 8
                                                               ? read_at<std::uint64_t>(warp, lane, at)
                                                               : read_at<std::uint32_t>(warp, lane, at);
                               at += bytes;
                               return value;
                             },
                             [&](std::uint64_t address) { return text_at(warp, lane, address); }};
    const std::string text =
        format_print(text_at(warp, lane, argument<std::uint64_t>(warp, op, 0, lane)), source);
    warp.cta->launch.print(text);
    if (op.a == 0) return;
    const MemoryAccess& result = warp.program->accesses[op.aux + 2];
    const auto length = static_cast<std::uint32_t>(text.size());
    const Target target =
        resolve(warp, lane, Space::local, address_of(warp, result, lane), sizeof length, 4, true);
    std::memcpy(target.memory, &length, sizeof length);
  });
}

void fail_assertion(Warp& warp, const MicroOp& op, Mask mask) {
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
  const auto text = [&](std::uint32_t i) {
    return text_at(warp, lane, argument<std::uint64_t>(warp, op, i, lane));
  };
  warp.cta->fail(warp, lane, "trap",
                 fmt::format("assertion `{}' failed in {}, {}:{}", text(0), text(3), text(1),
                             argument<std::uint32_t>(warp, op, 2, lane)),
                 "assertions that hold", "see what the kernel asserts there");
}

}  // namespace sim
TMAJIT_END
