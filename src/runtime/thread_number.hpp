#pragma once

#include <tmajit/version.hpp>

#include <cstddef>

TMAJIT_BEGIN

/// The most threads that can have a number at once.
inline constexpr std::size_t max_numbered_threads = 1024;

inline constexpr std::size_t not_numbered = ~std::size_t{0};
/// A thread's number, read without a function call. This TLS model takes the library's thread-local memory,
/// some 40 bytes, from the small reserve that the C library keeps for libraries loaded by dlopen.
extern constinit thread_local std::size_t own_thread_number __attribute__((tls_model("initial-exec")));

/// Gives the calling thread a number, until it ends.
[[nodiscard]] std::size_t number_this_thread() noexcept;

/// The calling thread's own number: the smallest that is free at its first call. `max_numbered_threads` if
/// none is free, or if the thread is ending. Takes no lock, so that a fork cannot leave one locked in the
/// child. A child does not reuse the numbers of its parent's other threads: the fork may have interrupted a
/// change of data that belongs to such a number.
[[nodiscard]] inline std::size_t this_thread_number() noexcept {
  const std::size_t number = own_thread_number;
  return number != not_numbered ? number : number_this_thread();
}

TMAJIT_END
