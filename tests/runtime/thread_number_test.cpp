#include "runtime/thread_number.hpp"

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using tmajit::max_numbered_threads, tmajit::this_thread_number;

TEST_CASE("concurrent threads have different numbers, which later threads reuse") {
  const std::size_t own = this_thread_number();
  CHECK(own < max_numbered_threads);
  for (int round = 0; round < 50; ++round) {
    constexpr std::size_t count = 32;
    std::vector<std::size_t> numbers(count);
    std::atomic<std::size_t> numbered_threads = 0;
    {
      std::vector<std::jthread> threads;
      threads.reserve(numbers.size());
      for (std::size_t& number : numbers) {
        threads.emplace_back([&] {
          number = this_thread_number();
          ++numbered_threads;
          // All threads must have numbers before one ends.
          while (numbered_threads < count) std::this_thread::yield();
          if (this_thread_number() != number) number = max_numbered_threads;
        });
      }
    }
    std::set<std::size_t> all(numbers.begin(), numbers.end());
    all.insert(own);
    CHECK(all.size() == count + 1);
    CHECK(*all.rbegin() < 4 * count);  // numbers of ended threads were reused
  }
  CHECK(this_thread_number() == own);
}

namespace {

std::atomic<std::size_t> asked_late = 0;

/// Constructed before the thread gets a number, and so destroyed after the number was given back.
struct AsksLate {
  AsksLate() = default;
  AsksLate(const AsksLate&) = delete;
  AsksLate& operator=(const AsksLate&) = delete;
  ~AsksLate() { asked_late = this_thread_number(); }
  void begin() const { (void)this; }
};

}  // namespace

TEST_CASE("a thread that is ending has no number any more") {
  std::jthread([] {
    static const thread_local AsksLate late;
    late.begin();
    CHECK(this_thread_number() < max_numbered_threads);
  }).join();
  CHECK(asked_late == max_numbered_threads);
}
