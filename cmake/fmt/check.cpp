// Links only if format.cpp defines all functions that this version of fmt's headers declare.
#include <ctime>
#include <string>
#include <vector>

#include <spdlog/fmt/chrono.h>
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

int main() {
  const std::vector<int> numbers{1, 2};
  const std::string text = fmt::format("{} {:.3f} {:e} {:#x} {} {:>8}", fmt::join(numbers, ","), 1.5, 2.5F,
                                       255U, fmt::ptr(&numbers), "text");
  std::tm day{};
  day.tm_mday = 1;
  spdlog::stderr_logger_mt("check")->info("{} {:%F}", text, day);
  return text.empty() ? 1 : 0;
}
