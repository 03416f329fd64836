#include "runtime/thread_number.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

TMAJIT_BEGIN
namespace {

std::array<std::atomic<std::uint64_t>, max_numbered_threads / 64> taken{};

std::size_t take_number() noexcept {
  for (std::size_t word = 0; word < taken.size(); ++word) {
    std::uint64_t bits = taken[word].load(std::memory_order_relaxed);
    while (bits != ~std::uint64_t{0}) {
      const auto bit = static_cast<std::size_t>(std::countr_one(bits));
      if (taken[word].compare_exchange_weak(bits, bits | std::uint64_t{1} << bit,
                                            std::memory_order_acquire)) {
        return 64 * word + bit;
      }
    }
  }
  return max_numbered_threads;
}

/// Releases the thread's number when the thread ends. Code that runs in the thread afterwards has no number.
class Holder {
 public:
  Holder() = default;
  ~Holder() {
    const std::size_t number = own_thread_number;
    own_thread_number = max_numbered_threads;
    if (number < max_numbered_threads) {
      taken[number / 64].fetch_and(~(std::uint64_t{1} << number % 64), std::memory_order_release);
    }
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  void hold(std::size_t number) const noexcept { own_thread_number = number; }
};

}  // namespace

constinit thread_local std::size_t own_thread_number = not_numbered;

std::size_t number_this_thread() noexcept {
  static const thread_local Holder holder;
  // While all numbers are in use, each call of a thread without one tries again.
  const std::size_t number = take_number();
  if (number < max_numbered_threads) holder.hold(number);
  return number;
}

TMAJIT_END
