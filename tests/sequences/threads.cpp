#include "sequences/threads.hpp"

#include "sequences/journal.hpp"

#include <tmajit/error.hpp>

#include <functional>
#include <random>
#include <utility>

using namespace tmajit;

namespace sequences {
namespace {

/// Calls a function when its thread ends.
struct AtThreadEnd {
  std::function<void()> run;
  ~AtThreadEnd() {
    if (run) run();
  }
};

/// A stream of a device, or the default stream.
class SomeStream {
 public:
  SomeStream(Device& device, bool own)
      : device_(device), stream_(own ? device.streams().create() : nullptr) {}
  ~SomeStream() { device_.streams().destroy(stream_); }
  SomeStream(const SomeStream&) = delete;
  SomeStream& operator=(const SomeStream&) = delete;
  [[nodiscard]] Stream get() const { return stream_; }

 private:
  Device& device_;
  Stream stream_;
};

void call_all(const Runtime& runtime, const Caller::Work& work) {
  std::mt19937_64 random(work.seed);
  for (std::uint64_t i = 0; i < work.calls; ++i) {
    const Case& test_case = work.cases[random() % work.cases.size()];
    call_once(runtime, test_case, random() % 2 * test_case.unit, work.computes);
  }
}

}  // namespace

void call_once(const Runtime& runtime, const Case& test_case, std::uint64_t shift, bool computes) {
  const Placement placement(runtime.device(), test_case, shift);
  if (!runtime.device()) {
    try {
      call(runtime, placement, nullptr);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::unavailable) return;
      throw;
    }
    if (kernel_plans(placement, runtime.chip()).empty()) return;  // nothing to move
    throw Failure("an operation without a device was not refused");
  }
  const SomeStream stream(*runtime.device(), shift != 0);
  if (computes) placement.write(stream.get());
  call(runtime, placement, stream.get());
  if (computes) placement.check(stream.get());
}

Caller::Caller(const Runtime& runtime, const Work& work)
    : thread_([this, runtime, work] {
        const auto calls = [this, runtime, work] {
          try {
            call_all(runtime, work);
          } catch (...) {
            failure_ = std::current_exception();
          }
        };
        if (work.late_calls) {
          // Constructed before the library's thread_local objects, so it is destroyed after them.
          thread_local AtThreadEnd last;
          last.run = calls;
        }
        calls();
      }) {}

void Caller::join() {
  if (thread_.joinable()) thread_.join();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace sequences
