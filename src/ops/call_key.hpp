#pragma once

#include <tmajit/version.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

TMAJIT_BEGIN

/// Key that distinguishes calls of operations, as words. Keys of most calls need no heap memory.
class CallKey {
 public:
  CallKey() = default;
  CallKey(const CallKey&) = delete;
  CallKey& operator=(const CallKey&) = delete;

  void add(std::uint64_t word) { *room_for(1) = word; }
  /// Adds bytes, padded with zeros to whole words. Earlier words of the key must determine how many bytes
  /// these are.
  void add(std::span<const std::byte> bytes) {
    if (bytes.empty()) return;
    const std::size_t words = (bytes.size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t);
    std::uint64_t* const to = room_for(words);
    to[words - 1] = 0;
    std::memcpy(to, bytes.data(), bytes.size());
  }

  [[nodiscard]] std::span<const std::uint64_t> words() const noexcept {
    return {heap_words_.empty() ? inline_words_.data() : heap_words_.data(), count_};
  }
  /// Different keys rarely have equal hashes. Four lanes hide the latency of the multiplications.
  [[nodiscard]] std::uint64_t hash() const noexcept {
    constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;  // its fraction · 2^64, an odd number
    std::array<std::uint64_t, 4> lanes{count_, 1, 2, 3};
    const std::span<const std::uint64_t> all = words();
    const auto mix = [](std::uint64_t lane, std::uint64_t word) {
      return (lane ^ word ^ lane >> 29) * golden_ratio;
    };
    std::size_t i = 0;
    for (; i + 4 <= count_; i += 4) {
      for (std::size_t k = 0; k < 4; ++k) lanes[k] = mix(lanes[k], all[i + k]);
    }
    for (std::size_t k = 0; i < count_; ++i, ++k) lanes[k] = mix(lanes[k], all[i]);
    std::uint64_t hash = 0;
    for (const std::uint64_t lane : lanes) hash = mix(hash ^ hash >> 32, lane ^ lane >> 32);
    return hash ^ hash >> 32;
  }

 private:
  [[nodiscard]] std::uint64_t* room_for(std::size_t words) {
    const std::size_t at = count_;
    count_ += words;
    if (heap_words_.empty() && count_ <= inline_words_.size()) [[likely]]
      return inline_words_.data() + at;
    if (heap_words_.empty())
      heap_words_.assign(inline_words_.begin(), inline_words_.begin() + static_cast<std::ptrdiff_t>(at));
    heap_words_.resize(count_);
    return heap_words_.data() + at;
  }

  std::size_t count_ = 0;
  std::vector<std::uint64_t> heap_words_;
  std::array<std::uint64_t, 96> inline_words_;  // uninitialised: only its first `count_` words are read
};

TMAJIT_END
