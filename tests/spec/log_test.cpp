#include "spec/log.hpp"

#include "captured_log.hpp"

#include <stdexcept>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

TEST_CASE("by default warnings are logged, and less severe messages are not") {
  set_logger(nullptr);
  CHECK(logs(LogLevel::warn));
  CHECK_FALSE(logs(LogLevel::info));
}

TEST_CASE("$TMAJIT_LOG is the lowest level that is logged") {
  for (const auto& [text, least] : {std::pair{"trace", LogLevel::trace},
                                    {"off", LogLevel::off},
                                    {"err", LogLevel::err},
                                    {"nonsense", LogLevel::warn}}) {
    ::setenv("TMAJIT_LOG", text, 1);
    set_logger(nullptr);
    CHECK(logs(least));
    if (least != LogLevel::trace) CHECK_FALSE(logs(static_cast<LogLevel>(static_cast<int>(least) - 1)));
  }
  set_logger(nullptr, LogLevel::debug);  // the caller's level overrides the variable
  CHECK(logs(LogLevel::debug));
  ::unsetenv("TMAJIT_LOG");
  set_logger(nullptr);
}

TEST_CASE("a callback gets the messages of its level and above until it is removed") {
  {
    const tests::CapturedLog captured;
    log(LogLevel::info, "not of interest");
    log(LogLevel::warn, "disk {} full", 3);
    CHECK(captured.text() == "disk 3 full\n");
  }
  CHECK(logs(LogLevel::warn));
}

TEST_CASE("an exception of a callback is ignored") {
  set_logger([](LogLevel, std::string_view) { throw std::runtime_error("no room"); });
  CHECK_NOTHROW(log(LogLevel::err, "message"));
  set_logger(nullptr);
}

TEST_CASE("callbacks can be replaced while other threads log") {
  const auto quiet = [](LogLevel, std::string_view) {};
  set_logger(quiet);
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 1000; ++i) log(LogLevel::warn, "message {}", i);
    });
  }
  for (int i = 0; i < 200; ++i) set_logger(quiet);
  threads.clear();
  set_logger(nullptr);
}
