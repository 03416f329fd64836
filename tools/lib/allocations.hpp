#pragma once

#include <cstddef>

/// Number of calls of operator new by the calling thread.
[[nodiscard]] std::size_t allocations() noexcept;

/// Bytes of heap memory in use through operator new in the process, including the allocator's padding.
[[nodiscard]] std::size_t heap_bytes() noexcept;
