#include "kernel/stencil_calls.hpp"

#include "spec/counted.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <cctype>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
bool is_word(char c) noexcept {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

namespace {

/// Scans an expression for the names of sources, and parses their calls.
class CallReader {
 public:
  CallReader(std::string_view text, std::uint32_t sources, StencilCalls& calls)
      : text_(text), sources_(sources), calls_(calls) {}

  std::optional<CallMistake> read() {
    while (at_ < text_.size()) {
      if (!is_word(text_[at_])) {
        ++at_;
        continue;
      }
      const std::size_t begin = at_;
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
      const std::uint32_t source = source_of(text_.substr(begin, at_ - begin));
      if (source == sources_) continue;
      if (auto mistake = read_call(begin, source)) return mistake;
    }
    return std::nullopt;
  }

 private:
  /// The source that a word names; `sources_` if it names no source.
  [[nodiscard]] std::uint32_t source_of(std::string_view word) const {
    if (sources_ == 1 && word == "x") return 0;
    if (word.size() != 2 || word[0] != 'x' || word[1] < '0') return sources_;
    return std::min(static_cast<std::uint32_t>(word[1] - '0'), sources_);
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  [[nodiscard]] bool consume(char c) {
    skip_spaces();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::optional<CallMistake> read_call(std::size_t begin, std::uint32_t source) {
    StencilOffsets offsets{};
    if (consume('(')) {
      std::uint32_t count = 0;
      do {
        if (count == max_stencil_dims) {
          return CallMistake{at_, fmt::format("at most {} offsets of a neighbour", max_stencil_dims)};
        }
        if (auto mistake = read_offset(offsets[count++])) return mistake;
      } while (consume(','));
      if (!consume(')')) return CallMistake{at_, literal_};
      if (calls_.offsets != 0 && calls_.offsets != count) {
        return CallMistake{begin,
                           fmt::format("{} in every call, as in the first one: one for each dimension of the "
                                       "stencil",
                                       counted(calls_.offsets, "offset"))};
      }
      calls_.offsets = count;
    }
    std::vector<StencilOffsets>& taps = calls_.taps[source];
    if (std::ranges::find(taps, offsets) == taps.end()) taps.push_back(offsets);
    return std::nullopt;
  }

  std::optional<CallMistake> read_offset(std::int32_t& offset) {
    const bool negative = consume('-');
    if (!negative) static_cast<void>(consume('+'));
    skip_spaces();
    const std::size_t begin = at_;
    std::int32_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      value = std::min(10 * value + (text_[at_] - '0'), max_stencil_offset + 1);
    }
    if (at_ == begin || (at_ < text_.size() && is_word(text_[at_]))) return CallMistake{begin, literal_};
    if (value > max_stencil_offset) {
      return CallMistake{begin, fmt::format("an offset within {} of 0", max_stencil_offset)};
    }
    offset = negative ? -value : value;
    return std::nullopt;
  }

  static constexpr auto literal_ =
      "an offset that is a whole number, written out, as in x0(-1, 0): the kernel's halo is as wide as the "
      "offsets say";

  std::string_view text_;
  std::uint32_t sources_;
  StencilCalls& calls_;
  std::size_t at_ = 0;
};

}  // namespace

std::optional<CallMistake> read_calls(std::string_view expression, std::uint32_t sources,
                                      StencilCalls& calls) {
  return CallReader(expression, sources, calls).read();
}

std::optional<std::array<std::uint32_t, max_stencil_dims>> stencil_dims(const Stencil& stencil,
                                                                        std::uint32_t rank,
                                                                        std::uint32_t offsets) {
  std::array<std::uint32_t, max_stencil_dims> dims{};
  if (offsets > rank || (!stencil.dims.empty() && stencil.dims.size() != offsets)) return std::nullopt;
  for (std::uint32_t k = 0; k < offsets; ++k) {
    std::int64_t dim = std::int64_t{rank} - offsets + k;
    if (!stencil.dims.empty()) dim = stencil.dims[k] < 0 ? stencil.dims[k] + rank : stencil.dims[k];
    if (dim < 0 || dim >= std::int64_t{rank}) return std::nullopt;
    dims[k] = static_cast<std::uint32_t>(dim);
    if (std::find(dims.begin(), dims.begin() + k, dims[k]) != dims.begin() + k) return std::nullopt;
  }
  return dims;
}

TMAJIT_END
