#pragma once

#include <cstddef>

/// How often the calling thread has asked for heap memory through operator new.
[[nodiscard]] std::size_t allocations() noexcept;

/// Bytes of heap memory that the process has from operator new, with what the heap adds to each.
[[nodiscard]] std::size_t heap_bytes() noexcept;
