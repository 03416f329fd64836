#pragma once

#include "sequences/cases.hpp"

#include <tmajit/runtime.hpp>

#include <cstdint>
#include <exception>
#include <span>
#include <thread>

namespace sequences {

/// Calls of operations in a thread of its own, which ends when it has made them.
class Caller {
 public:
  struct Work {
    std::span<const Case> cases;
    std::uint64_t seed = 0;
    std::uint64_t calls = 1;
    bool computes = false;    ///< results are looked at
    bool late_calls = false;  ///< the last call is made when the thread's own objects are destroyed
  };
  Caller(const tmajit::Runtime& runtime, const Work& work);

  /// Waits for its end. Throws what went wrong there.
  void join();

 private:
  std::exception_ptr wrong_;
  std::jthread thread_;
};

/// One call on a runtime with a device or, without one, what must be refused.
void call_once(const tmajit::Runtime& runtime, const Case& what, std::uint64_t shift, bool computes);

}  // namespace sequences
