#pragma once

#include <tmajit/version.hpp>

#include <cstddef>

TMAJIT_BEGIN

/// Threads that have a number at once.
inline constexpr std::size_t most_numbered_threads = 1024;

inline constexpr std::size_t not_numbered = ~std::size_t{0};
/// A thread's number, found without a call. So all thread-local memory of the library, some 40 bytes, is of
/// the little that the C library keeps for libraries that are loaded late.
extern constinit thread_local std::size_t own_thread_number __attribute__((tls_model("initial-exec")));

/// Gives the calling thread a number, until it ends.
[[nodiscard]] std::size_t number_this_thread() noexcept;

/// A number of the calling thread's own, the smallest that is free when it first asks;
/// `most_numbered_threads` if none is, and in a thread that is ending. Takes no lock, so that a process that
/// forks leaves none locked in its child. There the numbers of its parent's other threads are not given
/// again: what is kept by them may have been caught in the midst of a change.
[[nodiscard]] inline std::size_t this_thread_number() noexcept {
  const std::size_t number = own_thread_number;
  return number != not_numbered ? number : number_this_thread();
}

TMAJIT_END
