#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tmajit::python {

/// Everything about a call except its tensors' addresses, as words of 64 bits. Different calls have different
/// keys if the length of each part that varies in length is added before it.
class CallKey {
 public:
  [[nodiscard]] std::span<const std::uint64_t> words() const noexcept {
    return std::span(words_).first(size_);
  }
  /// Removes all words but keeps their memory.
  void clear() noexcept { size_ = 0; }
  /// Removes all words after the first `count`, which must be at most the number of words.
  void truncate(std::size_t count) noexcept { size_ = count; }

  /// Adds a number, or the address of an object that lives as long as the process.
  void add(std::uint64_t word) { *extend(1) = word; }
  void add(const void* object) { add(reinterpret_cast<std::uintptr_t>(object)); }
  /// Adds integers of 64 bits without their count.
  template <class Number>
  void add_all(const Number* numbers, std::size_t count) {
    static_assert(std::is_integral_v<Number> && sizeof(Number) == sizeof(std::uint64_t));
    std::uint64_t* const to = extend(count);
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<std::uint64_t>(numbers[i]);
  }
  /// Adds a text with its length.
  void add_text(std::string_view text) {
    const std::size_t count = (text.size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
    std::uint64_t* const to = extend(1 + count);
    to[count] = 0;  // the text may fill only a part of the last word
    to[0] = text.size();
    if (!text.empty()) std::memcpy(to + 1, text.data(), text.size());
  }

 private:
  /// Appends `count` words and returns the first, which is invalid after the next call.
  std::uint64_t* extend(std::size_t count) {
    if (size_ + count > words_.size()) [[unlikely]]
      words_.resize(std::max<std::size_t>(64, 2 * (size_ + count)));
    std::uint64_t* const first = words_.data() + size_;
    size_ += count;
    return first;
  }

  std::vector<std::uint64_t> words_;  ///< the first `size_` words are in use
  std::size_t size_ = 0;
};

}  // namespace tmajit::python
