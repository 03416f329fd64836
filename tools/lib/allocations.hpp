#pragma once

#include <cstddef>

/// How often the calling thread has asked for heap memory through operator new.
[[nodiscard]] std::size_t allocations() noexcept;
