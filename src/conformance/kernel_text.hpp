#pragma once

#include <tmajit/own_kernel.hpp>
#include <tmajit/own_launch.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace conformance {

/// Numbers that a kernel takes by value. Each kernel's text describes them.
struct Numbers {
  std::array<std::int32_t, 16> of{};
};

/// A kernel of `text` after a common prelude: `Numbers`, and `completes(barrier, parity)`, which waits for a
/// phase longer than any phase takes, and returns whether it completed.
[[nodiscard]] tmajit::OwnKernel kernel_of(const std::string& text, std::string entry);

}  // namespace conformance
