#include "sequences/run.hpp"

#include "sequences/sequence.hpp"

#include <tmajit/error.hpp>

#include <csignal>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace sequences {
namespace {

/// Time limit of a step: longer than the wait for a child, and than any compilation.
constexpr auto step_limit = 100s;
constexpr int no_such_device = 77;

/// State that is set up before the processes of the run are forked. It is never destroyed, because the
/// processes may end in any way.
struct SharedState {
  RunOptions options;
  std::vector<Case> cases = make_cases();
  Journal journal{options.verbose};
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tmajit-sequences-" + std::to_string(::getpid()));
};

/// Result of in_process(): in the child, what its work returned; in the parent, how the child ended.
struct ProcessEnd {
  bool in_child = false;     ///< this process is the child
  int status = 0;            ///< in the child what its work returned, in the parent its exit status
  std::string failure = {};  ///< why the child failed; empty if it did not
};

std::size_t open_files() {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                                                std::filesystem::directory_iterator()));
}

/// Compiles the cases' kernels for all alignments, so that sequences find them in the cache.
int fill_cache(const SharedState& shared, Backend& backend) {
  for (const auto& device : {std::shared_ptr<tmajit::Device>(), backend.open()}) {
    const tmajit::Runtime runtime({.device = device, .cache_directory = shared.options.cache});
    for (const Case& test_case : shared.cases) {
      for (const std::uint64_t shift : {std::uint64_t{0}, test_case.unit}) {
        (void)plan(runtime, Placement(device, test_case, shift).operation());
      }
      for (const auto& plan : kernel_plans(Placement(device, test_case, 0), runtime.chip())) {
        (void)runtime.kernel(plan);
      }
    }
  }
  return 0;
}

/// Runs sequences from `seed` on, until one must end the process. Returns main()'s return value.
int run_sequences(SharedState& shared, Backend& backend, std::uint64_t seed, std::uint64_t end) {
  // The driver opens files at its first call. Error messages may cause this call, so it is made here.
  (void)tmajit::why_no_gpu();
  std::size_t files = 0;
  for (; seed < end; ++seed) {
    shared.journal.begin(seed);
    Sequence sequence({backend, shared.journal, shared.cases, shared.options.cache, shared.folder}, seed);
    try {
      if (const std::optional<EndOfProcess> how = sequence.run()) {
        if (!sequence.is_child()) shared.journal.end();
        return end_process(*how);
      }
      backend.check_nothing_left();
      const std::size_t now = open_files();
      if (files == 0) files = now;
      if (now > files)
        throw Failure("open files: " + std::to_string(now) + ", there were " + std::to_string(files));
    } catch (const std::exception& error) {
      shared.journal.note(std::string("FAILED: ") + error.what());
      ::_exit(1);
    }
    shared.journal.end();
  }
  return 0;
}

/// Forks a process that executes work(backend), and watches it. Returns in both processes.
template <class Work>
ProcessEnd in_process(SharedState& shared, Work work) {
  const ::pid_t id = ::fork();
  if (id < 0) throw std::runtime_error("no process could be forked");
  if (id == 0) {
    try {
      // Never destroyed: the process may end inside a sequence, while threads still use it.
      static Backend& backend = *make_backend(shared.options.device).release();
      return {.in_child = true, .status = work(backend)};
    } catch (const tmajit::Error& error) {
      shared.journal.note(error.what());
      return {.in_child = true,
              .status = error.code() == tmajit::ErrorCode::unavailable ? no_such_device : 1};
    }
  }
  auto progress = shared.journal.progress();
  auto time_of_progress = Clock::now();
  int status = 0;
  while (::waitpid(id, &status, WNOHANG) == 0) {
    std::this_thread::sleep_for(1ms);
    if (const auto now = shared.journal.progress(); now != progress) {
      progress = now;
      time_of_progress = Clock::now();
    }
    if (Clock::now() - time_of_progress < step_limit) continue;
    ::kill(id, SIGKILL);
    ::waitpid(id, &status, 0);
    return {.failure = "the last step did not end within " + std::to_string(step_limit.count()) + " s"};
  }
  if (WIFSIGNALED(status))
    return {.failure = "the process ended by signal " + std::to_string(WTERMSIG(status))};
  if (WEXITSTATUS(status) == 0) return {};
  return {.status = WEXITSTATUS(status),
          .failure = "the process ended with " + std::to_string(WEXITSTATUS(status))};
}

int failed(const SharedState& shared, const ProcessEnd& ended, std::uint64_t first) {
  const std::uint64_t seed = shared.journal.seed();
  std::cout << ended.failure << "; the steps of sequence " << seed << ":\n"
            << shared.journal.text() << "run this sequence alone: --device " << shared.options.device
            << " --seed " << seed << "\nor with the earlier sequences of its process: --device "
            << shared.options.device << " --first " << first << " --count " << seed - first + 1 << std::endl;
  return 1;
}

}  // namespace

int run(const RunOptions& options) {
  static SharedState& shared = *new SharedState{options};
  std::filesystem::create_directories(shared.options.cache);
  std::filesystem::permissions(shared.options.cache, std::filesystem::perms::owner_all);
  std::filesystem::create_directories(shared.folder);
  std::filesystem::permissions(shared.folder, std::filesystem::perms::owner_all);
  const auto start = Clock::now();
  const ProcessEnd filled = in_process(shared, [&](Backend& backend) { return fill_cache(shared, backend); });
  if (filled.in_child) return filled.status;
  if (filled.status == no_such_device) {
    std::cout << "skipped: " << shared.journal.text();
    return no_such_device;
  }
  if (!filled.failure.empty()) return failed(shared, filled, 0);

  std::uint64_t next = options.first;
  const std::uint64_t end = options.first + options.count;
  std::uint64_t processes = 0;
  const auto out_of_time = [&] { return options.limit && Clock::now() - start >= *options.limit; };
  for (; next < end && !out_of_time(); ++processes) {
    shared.journal.reset_completed();
    const std::uint64_t last = std::min(end, next + options.in_process);
    const ProcessEnd ended =
        in_process(shared, [&](Backend& backend) { return run_sequences(shared, backend, next, last); });
    if (ended.in_child) return ended.status;
    if (!ended.failure.empty()) return failed(shared, ended, next);
    if (shared.journal.completed() == 0) return failed(shared, {.failure = "the process ended early"}, next);
    next += shared.journal.completed();
  }
  std::filesystem::remove_all(shared.folder);
  std::cout << next - options.first << " sequences from " << options.first << " on in " << processes
            << " processes, device " << options.device << ", in "
            << std::chrono::duration<double>(Clock::now() - start).count() << " s: no failures" << std::endl;
  return 0;
}

}  // namespace sequences
