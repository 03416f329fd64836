/// Video instructions (PTX ISA 9.7.18).
#include "sim/arithmetic/video.hpp"

#include "sim/instructions/select.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

TMAJIT_BEGIN
namespace sim {
namespace video_instructions {
namespace {

constexpr std::pair<std::string_view, Video::Operation> operations[] = {
    {"vadd", Video::Operation::add},      {"vsub", Video::Operation::sub},
    {"vavrg", Video::Operation::average}, {"vabsdiff", Video::Operation::distance},
    {"vmin", Video::Operation::min},      {"vmax", Video::Operation::max},
    {"vshl", Video::Operation::shl},      {"vshr", Video::Operation::shr},
    {"vmad", Video::Operation::mad},      {"vset", Video::Operation::compare}};

constexpr std::pair<std::string_view, Video::Comparison> comparisons[] = {
    {"eq", Video::Comparison::eq}, {"ne", Video::Comparison::ne}, {"lt", Video::Comparison::lt},
    {"le", Video::Comparison::le}, {"gt", Video::Comparison::gt}, {"ge", Video::Comparison::ge}};

/// The digit at `i`, counted from the right.
std::uint8_t digit(std::string_view digits, std::size_t i) {
  return static_cast<std::uint8_t>(digits[digits.size() - 1 - i] - '0');
}

/// Decodes a video instruction into a Video.
class Reader {
 public:
  explicit Reader(const Decoder& d) : d_(d) {
    std::string_view name = d.instruction().words().front();
    if (name.ends_with('2') || name.ends_with('4')) {
      video_.count = static_cast<std::uint8_t>(name.back() - '0');
      name.remove_suffix(1);
    }
    for (const auto& [word, operation] : operations)
      if (word == name) video_.operation = operation;
  }

  Video run() {
    const bool compares = video_.operation == Video::Operation::compare;
    const auto types =
        d_.instruction().types();  // of d, a, b; a comparison has none for d, which is unsigned
    const std::size_t first_source = compares ? 0 : 1;
    video_.d_signed = !compares && ptx::is_signed_integer(types[0]);
    video_.a_signed = ptx::is_signed_integer(types[first_source]);
    video_.b_signed = ptx::is_signed_integer(types[first_source + 1]);
    video_.saturates = d_.has("sat");
    video_.wraps = d_.has("wrap");
    video_.plus_one = d_.has("po");
    video_.scale = d_.has("shr7") ? 7 : d_.has("shr15") ? 15 : 0;
    if (compares) read_comparison();
    // The last word, if it is one of these, is the operation that combines the results with c.
    const std::string_view last = d_.instruction().words().back();
    if (last == "add") video_.second = Video::Second::add;
    if (last == "min") video_.second = Video::Second::min;
    if (last == "max") video_.second = Video::Second::max;
    if (video_.count == 1) {
      video_.a[0] = scalar_part(1, 0);
      video_.b[0] = scalar_part(2, 32);
      video_.d[0] = scalar_part(0, 0);
    } else {
      read_lanes(video_.a, component(1), video_.count == 2 ? "10" : "3210");
      read_lanes(video_.b, component(2), video_.count == 2 ? "32" : "7654");
      for (std::size_t i = 0; i < video_.count; ++i) video_.d.at(i) = lane(static_cast<std::uint8_t>(i));
      read_mask(component(0));
    }
    return video_;
  }

 private:
  /// The selector of an operand: "b2" for %r1.b2; empty if there is none.
  [[nodiscard]] std::string_view component(std::size_t operand) const {
    return d_.instruction().operands.at(operand).component;
  }
  [[nodiscard]] char letter() const { return video_.count == 2 ? 'h' : 'b'; }
  [[nodiscard]] VideoPart lane(std::uint8_t number) const {
    const auto bits = static_cast<std::uint8_t>(32 / video_.count);
    return {static_cast<std::uint8_t>(number * bits), bits};
  }

  [[nodiscard]] VideoPart scalar_part(std::size_t operand, std::uint8_t shift) const {
    const std::string_view text = component(operand);
    if (text.empty()) return {shift, 32};
    const std::uint8_t bits = text[0] == 'b' ? 8 : 16;
    const bool known =
        text.size() == 2 && (text[0] == 'b' || text[0] == 'h') && text[1] >= '0' && text[1] < '0' + 32 / bits;
    if (!known) d_.unsupported("this part of a register");
    return {static_cast<std::uint8_t>(shift + bits * (text[1] - '0')), bits};
  }

  /// Reads the parts that a selector such as ".b7610" names, or `defaults` if there is no selector. Each
  /// digit belongs to a result; the last one to result 0.
  void read_lanes(std::array<VideoPart, 4>& parts, std::string_view text, std::string_view defaults) {
    std::string_view digits = defaults;
    if (!text.empty()) {
      digits = text.substr(1);
      const char most = video_.count == 2 ? '3' : '7';
      if (text[0] != letter() || digits.size() != video_.count ||
          std::ranges::any_of(digits, [&](char c) { return c < '0' || c > most; }))
        d_.unsupported("these parts of a register");
    }
    for (std::size_t i = 0; i < video_.count; ++i) parts.at(i) = lane(digit(digits, i));
  }

  /// Reads the mask of results that a selector of d, such as ".b20", names.
  void read_mask(std::string_view text) {
    if (text.empty()) return;
    video_.written = 0;
    for (const char c : text.substr(1)) {
      if (text[0] != letter() || c < '0' || c >= '0' + video_.count) d_.unsupported("this mask");
      video_.written = static_cast<std::uint8_t>(video_.written | 1U << (c - '0'));
    }
  }

  void read_comparison() {
    const auto* const found =
        std::ranges::find_if(comparisons, [&](const auto& comparison) { return d_.has(comparison.first); });
    if (found == std::end(comparisons)) d_.unsupported();
    video_.comparison = found->second;
  }

  const Decoder& d_;
  Video video_;
};

/// Runs a video instruction. aux: index into Program::videos.
void run_video(Warp& warp, const MicroOp& op, Mask mask) {
  const Video& video = warp.program->videos[op.aux];
  std::byte* const registers = warp.registers;
  for_lanes(mask, [&](std::uint32_t lane) {
    put(registers + op.d, lane,
        compute(video, get<std::uint32_t>(registers + op.a, lane), get<std::uint32_t>(registers + op.b, lane),
                get<std::uint32_t>(registers + op.c, lane)));
  });
}

void select_video(Decoder& d) {
  constexpr ScalarType u32 = ScalarType::u32;
  const Video video = Reader(d).run();
  const Slot a = d.read(1, u32);
  const Slot b = d.read(2, u32);
  const Slot c = d.args().size() > 3 ? d.read(3, u32) : d.constant(0, false);
  d.emit(&run_video, d.write(0, u32), a, b, c, d.add(video));
}

constexpr Selector video_table[] = {{Opcode::video, &select_video}};

}  // namespace
}  // namespace video_instructions

constinit const Selectors video_selectors = video_instructions::video_table;

}  // namespace sim
TMAJIT_END
