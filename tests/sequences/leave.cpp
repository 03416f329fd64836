// Ends a process while objects exist.
#include "sequences/sequence.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include <unistd.h>

using namespace tmajit;

namespace sequences {
namespace {

using Objects = std::vector<std::shared_ptr<void>>;

/// A static object, constructed at its first use. Static objects are destroyed in the opposite order.
template <std::size_t n>
Objects& static_object() {
  static Objects objects;
  return objects;
}

template <std::size_t... n>
constexpr std::array<Objects& (*)(), sizeof...(n)> static_functions(std::index_sequence<n...>) {
  return {&static_object<n>...};
}
constexpr auto static_objects = static_functions(std::make_index_sequence<8>());

}  // namespace

EndOfProcess Sequence::random_end() {
  constexpr std::array all{EndOfProcess::by_return,           EndOfProcess::by_return_with_all,
                           EndOfProcess::by_exit_with_all,    EndOfProcess::by_exit,
                           EndOfProcess::by_exit_with_thread, EndOfProcess::at_once};
  return all[below(all.size())];
}

void Sequence::end_by(EndOfProcess how) {
  constexpr std::array texts{"return",
                             "return with static objects",
                             "exit with static objects",
                             "exit with local objects",
                             "exit while a thread makes calls",
                             "_exit"};
  note(std::string("end the process: ") + texts[static_cast<std::size_t>(how)]);
  // Threads may still make calls while a process exits, but not on a GPU, whose driver ends with the process.
  if (!environment_.backend.survives_fork()) {
    for (const auto& caller : callers_) caller->join();
    callers_.clear();
  }
  switch (how) {
    case EndOfProcess::by_return: return destroy_all();
    case EndOfProcess::by_return_with_all:
    case EndOfProcess::by_exit_with_all:
      for (auto& object : take_all())
        static_objects[below(static_objects.size())]().push_back(std::move(object));
      for (auto& caller : callers_)
        static_objects[below(static_objects.size())]().push_back(std::move(caller));
      callers_.clear();
      return;
    case EndOfProcess::by_exit_with_thread:
      // Not with a GPU, whose driver does not support calls during exit.
      if (environment_.backend.survives_fork()) {
        std::thread([runtime = any_runtime(), cases = std::span(environment_.cases)] {
          try {
            for (std::size_t i = 0;; ++i) call_once(runtime, cases[i % cases.size()], 0, false);
          } catch (const Error& error) {
            // Compilation is refused while a process exits.
            if (error.code() != ErrorCode::unavailable) throw;
          }
        }).detach();
      }
      return;
    default: return;
  }
}

int end_process(EndOfProcess how) {
  switch (how) {
    case EndOfProcess::at_once: ::_exit(0);
    case EndOfProcess::by_exit:
    case EndOfProcess::by_exit_with_all:
    case EndOfProcess::by_exit_with_thread:
      std::exit(0);  // NOLINT(concurrency-mt-unsafe): subject of the test
    default: return 0;
  }
}

}  // namespace sequences
