#pragma once

#include <tmajit/own_kernel.hpp>
#include <tmajit/own_launch.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace conformance {

/// Numbers that a kernel takes by value; each text says what they are.
struct Numbers {
  std::array<std::int32_t, 16> of{};
};

/// A kernel of a text that follows on what all have: `Numbers`, and `completes(barrier, parity)`, which waits
/// for a phase as long as one could take and says whether it came.
[[nodiscard]] tmajit::OwnKernel kernel_of(const std::string& text, std::string entry);

}  // namespace conformance
