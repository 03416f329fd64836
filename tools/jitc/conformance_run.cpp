#include "conformance_run.hpp"

#include "conformance/bench.hpp"
#include "files.hpp"
#include "run.hpp"
#include "select_device.hpp"
#include "terminal.hpp"
#include "usage.hpp"

#include <tmajit/error.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace jitc {
namespace {

/// A case that reports no result for this time counts as hanging.
constexpr int case_timeout_ms = 300'000;

void write_line(int fd, const Json& json) {
  const std::string line = json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
  for (std::size_t done = 0; done < line.size();) {
    const auto wrote = ::write(fd, line.data() + done, line.size() - done);
    if (wrote <= 0) return;  // the reader has gone
    done += static_cast<std::size_t>(wrote);
  }
}

/// Runs in the child process: writes one line of JSON for the device, then one for each case from `first` on.
/// "last" is true in the last line of this process.
void work(const ConformanceRun& run, std::size_t first, int fd) {
  try {
    const DeviceChoice choice = select_device(run.device, {}, false);
    Json device = to_json(choice.device->info());
    device["why"] = choice.why;
    write_line(fd, {{"device", device}});
    conformance::Bench bench(choice.device, choice.simulation ? choice.simulation->device() : nullptr,
                             tmajit::RuntimeOptions{}.cache_directory);
    for (std::size_t i = first; i < run.cases.size(); ++i) {
      const conformance::Result result = bench.run(*run.cases[i], run.seed);
      write_line(fd, {{"trials", result.trials},
                      {"wrong", result.wrong},
                      {"differences", result.differences},
                      {"error", result.error},
                      {"last", result.device_ended}});
      if (result.device_ended) return;
    }
  } catch (const tmajit::Error& error) {
    write_line(fd, {{"failed", error.what()}, {"code", static_cast<int>(error.code())}});
  } catch (const std::exception& error) {
    write_line(fd, {{"failed", error.what()}, {"code", static_cast<int>(tmajit::ErrorCode::internal)}});
  }
}

/// A child process that runs the cases from `first` on; the parent reads its lines through a pipe.
class Worker {
 public:
  Worker(const ConformanceRun& run, std::size_t first) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) fail_to_start();
    read_end_ = tmajit::Descriptor(ends[0]);
    const tmajit::Descriptor write_end(ends[1]);
    child_ = ::fork();
    if (child_ < 0) fail_to_start();
    if (child_ != 0) return;
    work(run, first, write_end.get());
    ::_exit(0);
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    // The child has written its last line, or it hangs.
    ::kill(child_, SIGKILL);
    while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  /// The next line; nullopt if the process has ended or hangs.
  [[nodiscard]] std::optional<Json> next_line() {
    while (true) {
      const std::size_t at = unread_.find('\n');
      if (at != std::string::npos) {
        const Json json = Json::parse(std::string_view(unread_).substr(0, at));
        unread_.erase(0, at + 1);
        return json;
      }
      ::pollfd ready{.fd = read_end_.get(), .events = POLLIN, .revents = 0};
      const int count = ::poll(&ready, 1, case_timeout_ms);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return std::nullopt;
      std::array<char, 4096> part{};
      const auto got = ::read(read_end_.get(), part.data(), part.size());
      if (got <= 0) return std::nullopt;
      unread_.append(part.data(), static_cast<std::size_t>(got));
    }
  }

 private:
  [[noreturn]] static void fail_to_start() {
    fail(tmajit::ErrorCode::io, "cannot start a process for the cases: {}",
         std::generic_category().message(errno));
  }

  tmajit::Descriptor read_end_;
  ::pid_t child_ = 0;
  std::string unread_;  ///< text from the pipe after the last line that next_line() returned
};

/// The result of a case whose process ended without reporting one.
Json missing_result() {
  return {{"trials", 0},
          {"wrong", 0},
          {"differences", Json::array()},
          {"error", fmt::format("its process crashed, or had not ended after {} s", case_timeout_ms / 1000)},
          {"last", true}};
}

}  // namespace

ConformanceResults run_conformance(const ConformanceRun& run) {
  ConformanceResults results{.device = {}, .cases = Json::array()};
  while (results.cases.size() < run.cases.size()) {
    Worker worker(run, results.cases.size());
    Progress progress("conformance", run.cases.size());  // after the fork, since it starts a thread
    progress.advance(results.cases.size());
    for (bool last = false; !last && results.cases.size() < run.cases.size();) {
      const std::string& name = run.cases[results.cases.size()]->name;
      progress.note(name);
      std::optional<Json> line = worker.next_line();
      if (line && line->contains("failed"))
        fail(static_cast<tmajit::ErrorCode>(line->at("code").get<int>()), "{}",
             line->at("failed").get<std::string>());
      if (line && line->contains("device")) {
        results.device = line->at("device");
        continue;
      }
      if (!line && results.device.is_null())
        fail(tmajit::ErrorCode::internal, "the process that opens the device ended without a message");
      if (!line) line = missing_result();
      last = line->at("last").get<bool>();
      line->erase("last");
      Json result{{"case", name}};
      result.update(*line);
      results.cases.push_back(std::move(result));
      progress.advance(1);
    }
  }
  return results;
}

}  // namespace jitc
