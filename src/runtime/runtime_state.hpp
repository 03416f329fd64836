#pragma once

#include "runtime/background.hpp"
#include "runtime/companion.hpp"
#include "runtime/kernel_table.hpp"
#include "runtime/readiness.hpp"
#include "spec/inside.hpp"

#include <atomic>
#include <memory>

TMAJIT_BEGIN

/// The state that all handles of a runtime share.
struct RuntimeState {
  [[nodiscard]] static std::shared_ptr<RuntimeState> make(RuntimeOptions options, Toolchain toolchain = {});
  RuntimeState(RuntimeOptions options, Toolchain toolchain);
  ~RuntimeState() { delete companion.load(std::memory_order_acquire); }
  RuntimeState(const RuntimeState&) = delete;
  RuntimeState& operator=(const RuntimeState&) = delete;

  KernelTable kernels;
  Chip chip;
  std::atomic<Companion*> companion{nullptr};
  std::unique_ptr<Background> background;  ///< its threads do not keep the runtime alive
};

TMAJIT_END
