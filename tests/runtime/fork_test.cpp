// A process that is forked while other threads hold locks or make values must not wait for those threads,
// which it does not have.
#include "captured_log.hpp"
#include "ops/tuning_store.hpp"
#include "runtime/child_process.hpp"
#include "runtime/single_flight.hpp"
#include "spec/log.hpp"
#include "temporary_folder.hpp"

#include <tmajit/logging.hpp>

#include <atomic>
#include <chrono>
#include <fstream>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <fcntl.h>
#include <unistd.h>

using namespace tmajit;
using namespace std::chrono_literals;

namespace {

using Values = SingleFlight<std::string, std::string>;

Values::Result value(const std::string& text) {
  return std::make_shared<const std::string>(text);
}

/// Calls `work(i)` repeatedly in threads during its lifetime.
class Busy {
 public:
  template <class Work>
  Busy(int threads, Work work) {
    for (int t = 0; t < threads; ++t) {
      threads_.emplace_back([t, threads, work](const std::stop_token& stop) {
        for (int i = t; !stop.stop_requested(); i += threads) work(i);
      });
    }
  }

 private:
  std::vector<std::jthread> threads_;
};

}  // namespace

TEST_CASE("a child makes values that its parent was making, and finds those that were complete") {
  skip_unless_threads_can_fork();
  Values values;
  (void)values.get(1, "made before", [] { return value("of the parent"); });
  std::latch making(3);
  std::latch enough(1);
  std::vector<std::jthread> makers;
  for (const char* key : {"a", "b"}) {
    makers.emplace_back([&, key] {
      (void)values.get(1, key, [&] {
        making.count_down();
        enough.wait();
        return value("of the parent");
      });
    });
  }
  makers.emplace_back([&] {  // fails after the fork
    CHECK_THROWS(values.get(1, "c", [&]() -> Values::Result {
      making.count_down();
      enough.wait();
      throw std::runtime_error("no luck");
    }));
  });
  making.wait();
  makers.emplace_back(
      [&] { (void)values.get(1, "a", [] { return value("never made"); }); });  // waits for the first

  std::vector<ChildProcess> children;
  children.reserve(4);
  for (int i = 0; i < 4; ++i) {
    children.emplace_back([&] {
      std::atomic<int> makes = 0;
      std::atomic<int> right = 0;
      {
        std::vector<std::jthread> asking;
        asking.reserve(4);
        for (int t = 0; t < 4; ++t) {
          asking.emplace_back([&] {
            for (const char* key : {"a", "b", "c", "new"}) {
              right += *values.get(1, key, [&] { return ++makes, value("of the child"); }) == "of the child";
            }
            right += *values.get(1, "made before", [&] { return ++makes, value(""); }) == "of the parent";
          });
        }
      }
      return makes == 4 && right == 4 * 5 ? 0 : 1;
    });
  }
  for (auto& child : children) CHECK(child.exit_code(10s) == 0);
  enough.count_down();
  makers.clear();
  for (const char* key : {"a", "b"}) {
    CHECK(*values.get(1, key, [] { return value("again"); }) == "of the parent");
  }
  CHECK(*values.get(1, "c", [] { return value("again"); }) == "again");
}

TEST_CASE("after a fork while a value is made, parent and child can both make it") {
  skip_unless_threads_can_fork();
  for (const bool fails : {false, true}) {
    Values values;
    std::optional<ChildProcess> child;
    const auto get = [&](const char* expected) {
      return *values.get(1, "key", [&] { return value(expected); }) == expected;
    };
    const auto make = [&]() -> Values::Result {
      // The child makes the same value, and the end of the parent's attempt does not affect it.
      // NOLINTNEXTLINE(misc-redundant-expression): the second call finds the value
      child.emplace([&] { return get("of the child") && get("of the child") ? 0 : 1; });
      if (fails) throw std::runtime_error("no luck");
      return value("of the parent");
    };
    if (fails) {
      CHECK_THROWS(values.get(1, "key", make));
    } else {
      CHECK(*values.get(1, "key", make) == "of the parent");
    }
    CHECK(child->exit_code(10s) == 0);
    CHECK(get(fails ? "again" : "of the parent"));
  }
}

TEST_CASE("no lock is held in a child by a thread of its parent") {
  skip_unless_threads_can_fork();
  Values values;
  TuningTable choices;
  const auto work = [&](int i) {
    const auto key = std::to_string(i % 5000);
    const auto hash = static_cast<std::uint64_t>(i % 5000) * 0x9e3779b97f4a7c15;
    (void)values.get(hash, key, [&] { return value(key); });
    // A value whose function throws is inserted and erased by each call.
    try {
      (void)values.get(hash, "fails", []() -> Values::Result { throw std::runtime_error("no luck"); });
    } catch (const std::runtime_error&) {
    }
    const ShapeClass shape_class{
        .family = "rows", .element_bytes = 4, .sources = static_cast<std::uint8_t>(i % 40)};
    choices.add(
        {.chip = "chip", .shape_class = shape_class, .choice = {.family = "rows"}, .microseconds = 1});
    return choices.find("chip", shape_class).has_value();
  };
  const Busy busy(4, work);
  for (int round = 0; round < 100; ++round) {
    ChildProcess child([&] {
      bool right = true;
      for (int i = 0; i < 64; ++i) right = right && work(i * 79);
      // The child, too, creates and destroys objects, and forks.
      const Values more;
      return right && ChildProcess([&] { return work(1) ? 0 : 1; }).exit_code(10s) == 0 ? 0 : 1;
    });
    REQUIRE(child.exit_code(20s) == 0);
  }
}

TEST_CASE("a child can read tuned choices that its parent was reading at the fork") {
  skip_unless_threads_can_fork();
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "tuning.json") << "broken";
  TuningStore store(folder.path());
  const tests::CapturedLog restored;
  std::latch reading(1);
  std::latch enough(1);
  std::atomic<bool> is_child = false;
  set_logger([&](LogLevel, std::string_view) {  // called while the file is read
    if (is_child) return;
    reading.count_down();
    enough.wait();
  });
  std::jthread reader([&] { (void)store.table(); });
  reading.wait();
  ChildProcess child([&] {
    is_child = true;
    return store.table().all() == TuningTable::shipped().all() ? 0 : 1;
  });
  CHECK(child.exit_code(10s) == 0);
  enough.count_down();
}

TEST_CASE("a child can log to standard error although its parent was logging at the fork") {
  skip_unless_threads_can_fork();
  const tests::CapturedLog restored;
  set_logger(nullptr, LogLevel::warn);
  const int standard_error = ::dup(STDERR_FILENO);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  REQUIRE(::dup2(nowhere, STDERR_FILENO) >= 0);
  int failed = 0;
  {
    const Busy busy(3, [](int i) { log(LogLevel::warn, "message {}", i); });
    for (int round = 0; round < 100 && failed == 0; ++round) {
      ChildProcess child([] { return log(LogLevel::warn, "of the child"), 0; });
      failed += child.exit_code(10s) != 0;
    }
  }
  REQUIRE(::dup2(standard_error, STDERR_FILENO) >= 0);
  ::close(standard_error);
  ::close(nowhere);
  CHECK(failed == 0);
}
