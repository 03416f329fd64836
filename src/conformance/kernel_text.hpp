#pragma once

#include <tmajit/own_kernel.hpp>
#include <tmajit/own_launch.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace conformance {

/// Numbers that a kernel takes by value. A comment before each kernel lists their meanings.
struct Numbers {
  std::array<std::int32_t, 16> values{};
};

/// A kernel of `text` after a common prelude: `Numbers`, and `completes(barrier, parity)`, which waits for
/// the phase with a time limit and returns whether the phase completed.
[[nodiscard]] tmajit::OwnKernel kernel_of(const std::string& text, std::string entry);

}  // namespace conformance
