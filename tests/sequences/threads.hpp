#pragma once

#include "sequences/cases.hpp"

#include <tmajit/runtime.hpp>

#include <cstdint>
#include <exception>
#include <span>
#include <thread>

namespace sequences {

/// A thread that calls operations and then ends.
class Caller {
 public:
  struct Work {
    std::span<const Case> cases;
    std::uint64_t seed = 0;
    std::uint64_t calls = 1;
    bool computes = false;    ///< whether results are checked
    bool late_calls = false;  ///< the last call is made when the thread's own objects are destroyed
  };
  Caller(const tmajit::Runtime& runtime, const Work& work);

  /// Waits for the thread's end, and throws its failure, if any.
  void join();

 private:
  std::exception_ptr failure_;
  std::jthread thread_;
};

/// Makes one call with a runtime. If the runtime has no device, the call must fail.
void call_once(const tmajit::Runtime& runtime, const Case& test_case, std::uint64_t shift, bool computes);

}  // namespace sequences
