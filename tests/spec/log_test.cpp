#include "spec/log.hpp"

#include <tmajit/logging.hpp>

#include <memory>
#include <sstream>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/sinks/ostream_sink.h>

using namespace tmajit;

namespace {

std::shared_ptr<spdlog::logger> logger_into(std::ostringstream& text) {
  return std::make_shared<spdlog::logger>("host", std::make_shared<spdlog::sinks::ostream_sink_mt>(text));
}

}  // namespace

TEST_CASE("the default logger warns and does not inform") {
  set_logger(nullptr);
  CHECK(log().name() == "tmajit");
  CHECK(log().should_log(spdlog::level::warn));
  CHECK_FALSE(log().should_log(spdlog::level::info));
}

TEST_CASE("$TMAJIT_LOG names the default logger's level") {
  for (const auto& [text, level] : {std::pair{"trace", spdlog::level::trace},
                                    {"off", spdlog::level::off},
                                    {"err", spdlog::level::err},
                                    {"nonsense", spdlog::level::warn}}) {
    ::setenv("TMAJIT_LOG", text, 1);
    set_logger(nullptr);
    CHECK(log().level() == level);
  }
  ::unsetenv("TMAJIT_LOG");
  set_logger(nullptr);
}

TEST_CASE("the host's logger takes over and gives back") {
  std::ostringstream text;
  set_logger(logger_into(text));
  log().warn("disk full");
  CHECK(text.str().find("disk full") != std::string::npos);
  set_logger(nullptr);
  CHECK(log().name() == "tmajit");
}

TEST_CASE("loggers are replaced while others log") {
  const auto quiet =
      std::make_shared<spdlog::logger>("quiet", std::make_shared<spdlog::sinks::null_sink_mt>());
  set_logger(quiet);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 1000; ++i) log().warn("message {}", i);
    });
  }
  for (int i = 0; i < 200; ++i) {
    set_logger(std::make_shared<spdlog::logger>("quiet", std::make_shared<spdlog::sinks::null_sink_mt>()));
  }
  threads.clear();
  CHECK(log().name() == "quiet");
  set_logger(nullptr);
}
