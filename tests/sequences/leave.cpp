// How a process leaves while objects live.
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

/// Static objects, each made when it is first asked for: they are destroyed in the opposite order.
template <std::size_t n>
Objects& kept() {
  static Objects objects;
  return objects;
}

template <std::size_t... n>
constexpr std::array<Objects& (*)(), sizeof...(n)> all_kept(std::index_sequence<n...>) {
  return {&kept<n>...};
}
constexpr auto statics = all_kept(std::make_index_sequence<8>());

}  // namespace

Leave Sequence::any_way_out() {
  constexpr std::array all{Leave::by_return, Leave::by_return_with_all,  Leave::by_exit_with_all,
                           Leave::by_exit,   Leave::by_exit_with_thread, Leave::at_once};
  return all[below(all.size())];
}

void Sequence::leave(Leave how) {
  constexpr std::array texts{"return",
                             "return with static objects",
                             "exit with static objects",
                             "exit as it stands",
                             "exit while a thread goes on",
                             "_exit"};
  note(std::string("leave the process: ") + texts[static_cast<std::size_t>(how)]);
  // Threads may still be at work when a process ends, but not with a GPU: its driver ends with the process.
  if (!surroundings_.backend.survives_fork()) {
    for (const auto& caller : callers_) caller->join();
    callers_.clear();
  }
  switch (how) {
    case Leave::by_return: return destroy_all();
    case Leave::by_return_with_all:
    case Leave::by_exit_with_all:
      for (auto& object : take_all()) statics[below(statics.size())]().push_back(std::move(object));
      for (auto& caller : callers_) statics[below(statics.size())]().push_back(std::move(caller));
      callers_.clear();
      return;
    case Leave::by_exit_with_thread:
      // A GPU's driver does not bear that.
      if (surroundings_.backend.survives_fork()) {
        std::thread([runtime = any_runtime(), cases = std::span(surroundings_.cases)] {
          try {
            for (std::size_t i = 0;; ++i) call_once(runtime, cases[i % cases.size()], 0, false);
          } catch (const Error& error) {
            // Nothing is compiled while a process ends.
            if (error.code() != ErrorCode::unavailable) throw;
          }
        }).detach();
      }
      return;
    default: return;
  }
}

int leave_process(Leave how) {
  switch (how) {
    case Leave::at_once: ::_exit(0);
    case Leave::by_exit:
    case Leave::by_exit_with_all:
    case Leave::by_exit_with_thread: std::exit(0);  // NOLINT(concurrency-mt-unsafe): that is what is tested
    default: return 0;
  }
}

}  // namespace sequences
