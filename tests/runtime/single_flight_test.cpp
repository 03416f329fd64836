#include "runtime/single_flight.hpp"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using Table = tmajit::SingleFlight<std::string, std::string>;

namespace {

Table::Result made(const char* text) {
  return std::make_shared<const std::string>(text);
}

/// Blocks the thread that makes a value until other threads have had the time to wait for it.
class Gate {
 public:
  void open() {
    open_ = true;
    open_.notify_all();
  }
  void pass() const { open_.wait(false); }

 private:
  std::atomic<bool> open_ = false;
};

void give_others_time() {
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

/// Returns the results of eight threads that all request one key while its value is made. The value must be
/// made only once.
std::vector<Table::Result> asked_at_once(Table& table) {
  Gate gate;
  std::atomic<int> makes = 0;
  std::vector<Table::Result> results(8);
  {
    std::vector<std::jthread> threads;
    threads.reserve(results.size());
    for (auto& result : results) {
      threads.emplace_back([&] {
        result = table.get(1, "key", [&] {
          ++makes;
          gate.pass();
          return made("value");
        });
      });
    }
    give_others_time();
    gate.open();
  }
  CHECK(makes == 1);
  return results;
}

}  // namespace

TEST_CASE("a value is made at the first request and found at later ones") {
  Table table;
  int makes = 0;
  const auto make = [&] { return ++makes, made("value"); };
  const auto first = table.get(1, "key", make);
  CHECK(table.get(1, "key", make) == first);
  CHECK(*first == "value");
  CHECK(makes == 1);
}

TEST_CASE("different keys with equal hashes have different values") {
  Table table;
  const auto a = table.get(7, "a", [] { return made("of a"); });
  const auto b = table.get(7, "b", [] { return made("of b"); });
  CHECK(*a == "of a");
  CHECK(*b == "of b");
  CHECK(table.get(7, "a", [] { return made("again"); }) == a);
}

TEST_CASE("threads that request a key at the same time share one value, which is made once") {
  Table table;
  const std::vector<Table::Result> results = asked_at_once(table);
  for (const auto& result : results) CHECK(result == results[0]);
}

TEST_CASE("no lock is held while a value is made") {
  Table table;
  // While one value is made, other values with the same hash are requested, by the same thread and by another
  // one.
  const auto outer = table.get(1, "outer", [&] {
    const auto inner = table.get(1, "inner", [] { return made("inner"); });
    std::jthread([&] { (void)table.get(1, "other", [] { return made("other"); }); }).join();
    return made("outer");
  });
  CHECK(*outer == "outer");
}

TEST_CASE("all waiting threads get a failure, and the next request tries again") {
  Table table;
  Gate gate;
  std::atomic<int> makes = 0;
  std::atomic<int> failures = 0;
  {
    std::vector<std::jthread> threads;
    threads.reserve(8);
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        try {
          (void)table.get(1, "key", [&]() -> Table::Result {
            ++makes;
            gate.pass();
            throw std::runtime_error("no luck");
          });
        } catch (const std::runtime_error& error) {
          if (std::string(error.what()) == "no luck") ++failures;
        }
      });
    }
    give_others_time();
    gate.open();
  }
  CHECK(failures == 8);
  CHECK(makes == 1);
  CHECK(*table.get(1, "key", [] { return made("better"); }) == "better");
}

TEST_CASE("many threads that request many keys make each value once") {
  Table table;
  constexpr int keys = 200;
  std::vector<std::atomic<int>> makes(keys);
  {
    std::vector<std::jthread> threads;
    threads.reserve(8);
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 4 * keys; ++i) {
          const int k = (i * 7 + t * 13) % keys;
          const auto hash = static_cast<std::uint64_t>(k) * 0x9e3779b97f4a7c15;
          const auto got = table.get(hash, std::to_string(k), [&] {
            ++makes[static_cast<std::size_t>(k)];
            return std::make_shared<const std::string>(std::to_string(-k));
          });
          if (*got != std::to_string(-k)) throw std::logic_error("another key's value");
        }
      });
    }
  }
  for (const auto& count : makes) CHECK(count == 1);
}

TEST_CASE("beyond the capacity, values that were not requested again are evicted first") {
  Table table(3);
  const auto ask = [&](std::uint64_t n) {
    return table.get(n, std::to_string(n), [&] { return std::make_shared<const std::string>("a value"); });
  };
  const auto is_cached = [&](std::uint64_t n) { return table.find(n, std::to_string(n)) != nullptr; };
  const Table::Result first = ask(1);
  const std::weak_ptr<const std::string> second = ask(2);
  (void)ask(3);
  CHECK(table.size() == 3);
  CHECK(ask(1) == first);
  (void)ask(4);  // evicts 2, the oldest that was not requested again
  CHECK(table.size() == 3);
  CHECK_FALSE(is_cached(2));
  CHECK(second.expired());
  CHECK(is_cached(1));
  CHECK(is_cached(4));
  (void)ask(5);  // evicts 3, which was not requested again
  CHECK_FALSE(is_cached(3));
  for (std::uint64_t n = 6; n < 10; ++n) (void)ask(n);
  CHECK_FALSE(is_cached(1));
  CHECK(*first == "a value");  // an evicted value can still be used
  CHECK(*ask(1) == "a value");
}

TEST_CASE("a table without capacity still makes a value once for all waiting threads") {
  Table table(0);
  for (const auto& result : asked_at_once(table)) CHECK(*result == "value");
  CHECK(table.size() == 0);
}

TEST_CASE("threads find values while other values are evicted") {
  constexpr std::size_t capacity = 8;
  constexpr int keys = 40;
  Table table(capacity);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    threads.reserve(8);
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 5000; ++i) {
          const int k = (i * 7 + t * 13) % (i % 3 == 0 ? keys : 4);
          const auto got = table.get(static_cast<std::uint64_t>(k % 5), std::to_string(k),
                                     [&] { return std::make_shared<const std::string>(std::to_string(-k)); });
          wrong += *got != std::to_string(-k);
        }
      });
    }
  }
  CHECK(wrong == 0);
  CHECK(table.size() == capacity);
}
