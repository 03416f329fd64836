// Steps with calls, threads, graphs and forked processes.
#include "sequences/sanitizer.hpp"
#include "sequences/sequence.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include <sys/wait.h>
#include <unistd.h>

using namespace tmajit;
using namespace std::chrono_literals;

namespace sequences {
namespace {

constexpr auto child_limit = 60s;

}  // namespace

void Sequence::call_operation() {
  const Runtime& runtime = any_runtime();
  const Case& test_case = any_case();
  note("call: " + test_case.definition.text());
  call_once(runtime, test_case, below(2) * test_case.unit, environment_.backend.computes());
}

void Sequence::call_in_thread() {
  const Runtime& runtime = any_runtime();
  note("make calls in a thread, and wait for it");
  Caller(runtime, {.cases = environment_.cases,
                   .seed = random_(),
                   .calls = 1 + below(4),
                   .computes = environment_.backend.computes(),
                   .late_calls = one_in(2)})
      .join();
}

void Sequence::start_thread() {
  const Runtime& runtime = any_runtime();
  note("make calls in a thread, and do not wait for it");
  add(callers_, std::make_shared<Caller>(runtime, Caller::Work{.cases = environment_.cases,
                                                               .seed = random_(),
                                                               .calls = 1 + below(40),
                                                               .computes = environment_.backend.computes(),
                                                               .late_calls = one_in(2)}));
}

void Sequence::join_thread() {
  if (callers_.empty()) return;
  note("wait for a thread");
  const std::shared_ptr<Caller> caller = any(callers_);
  std::erase(callers_, caller);
  caller->join();
}

void Sequence::capture() {
  if (!environment_.backend.has_graphs() || !has_devices()) return;
  Runtime& runtime = any_runtime();
  const std::shared_ptr<Device> device = runtime.device();
  if (!device) return;
  auto captured = std::make_shared<Captured>();
  captured->device = device;
  std::vector<std::function<void(Stream)>> works;
  for (auto n = 1 + below(4); n > 0; --n) {
    const auto placement = place(device, any_case());
    switch (below(3)) {
      case 0:
        if (!launches_.empty()) {
          const std::shared_ptr<Prepared> prepared = any(launches_);
          captured->writes.push_back(prepared->placement);
          works.emplace_back([this, prepared](Stream stream) { launch_all(*prepared, stream); });
        }
        break;
      case 1:
        if (!plans_.empty()) {
          const std::shared_ptr<Planned> planned = any(plans_);
          if (!planned->placement->device()) break;
          const auto other_placement = place(device, planned->placement->test_case());
          captured->writes.push_back(other_placement);
          works.emplace_back([planned, other_placement](Stream stream) {
            planned->plan(other_placement->destinations(), other_placement->sources(), stream);
          });
        }
        break;
      default:
        captured->writes.push_back(placement);
        works.emplace_back([&runtime, placement](Stream stream) { call(runtime, *placement, stream); });
    }
  }
  note("capture " + std::to_string(works.size()) + " launches");
  const Stream stream = device->streams().create();
  try {
    captured->graph = environment_.backend.capture(stream, random_(), !callers_.empty(), [&] {
      for (const auto& work : works) work(stream);
      if (one_in(10)) throw std::exception();  // like an error in the caller's code
    });
    add(graphs_, captured);
  } catch (const Failure&) {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::exception&) {
    note("the capture was aborted");
  }
  device->streams().destroy(stream);
}

void Sequence::replay() {
  if (graphs_.empty()) return;
  note("replay a graph");
  const Captured& captured = *any(graphs_);
  for (const auto& placement : captured.writes) placement->write(nullptr);
  captured.device->streams().synchronize(nullptr);
  const Stream stream = one_in(2) ? captured.device->streams().create() : nullptr;
  for (auto n = 1 + below(2); n > 0; --n) captured.graph->launch(stream);
  captured.device->streams().synchronize(stream);
  for (const auto& placement : captured.writes) placement->check(nullptr);
  captured.device->streams().destroy(stream);
}

void Sequence::drop_graph_template() {
  if (graphs_.empty()) return;
  note("destroy a graph, and keep its executable");
  any(graphs_)->graph->drop_template();
}

void Sequence::drop_graph() {
  note("drop a graph");
  drop(graphs_);
}

void Sequence::fork_child() {
  if (child_) return;
  while (has_address_sanitizer && !callers_.empty()) join_thread();
  note("fork; threads: " + std::to_string(callers_.size()));
  const ::pid_t id = ::fork();
  if (id < 0) throw Failure("no process could be forked");
  if (id == 0) return become_child();
  wait_for(id);
}

void Sequence::wait_for(int child) {
  const auto deadline = std::chrono::steady_clock::now() + child_limit;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      throw Failure("the child did not end within a minute");
    }
    std::this_thread::sleep_for(200us);
  }
  if (WIFSIGNALED(status)) throw Failure("the child ended by signal " + std::to_string(WTERMSIG(status)));
  if (WEXITSTATUS(status) != 0) throw Failure("the child ended with " + std::to_string(WEXITSTATUS(status)));
}

void Sequence::become_child() {
  child_ = true;
  environment_.journal.set_child(true);
  // The child has none of the parent's threads: they cannot be joined, and their objects are never destroyed.
  if (!callers_.empty()) {
    disable_leak_check();
    static auto& gone = *new Pool<Caller>;
    gone = std::exchange(callers_, {});
  }
  steps_left_ = below(8);
  end_ = random_end();
  if (environment_.backend.survives_fork()) return;
  // The child has no device either, but runtimes of the parent's device can still plan.
  const auto runtimes = runtimes_;
  inherited_ = take_all();
  for (const std::shared_ptr<Runtime>& runtime : runtimes) {
    if (!runtime->device()) {
      runtimes_.push_back(runtime);
      continue;
    }
    note("plan on a runtime of the parent");
    try {
      (void)plan(*runtime, place(nullptr, any_case())->operation());
    } catch (const Error& error) {
      note(error.what());
    }
  }
}

}  // namespace sequences
