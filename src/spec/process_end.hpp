#pragma once

#include <tmajit/version.hpp>

TMAJIT_BEGIN

/// Calls `wait` in the main thread before its thread-local objects are destroyed: when it ends the process by
/// returning from main() or by exit(), before any exit handler runs, and when it ends itself. NVRTC registers
/// exit handlers while it is loaded and at its first compile. Such a handler runs before all handlers that
/// were registered earlier, so a handler cannot wait for a thread inside NVRTC.
///
/// Without effect if this library was loaded by another thread than the main one.
void before_main_thread_ends(void (*wait)());

/// Whether the main thread has ended while other threads go on (pthread_exit).
[[nodiscard]] bool main_thread_has_ended() noexcept;

TMAJIT_END
