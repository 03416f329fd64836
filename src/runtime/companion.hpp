#pragma once

#include <tmajit/runtime.hpp>

#include <memory>

TMAJIT_BEGIN

/// What another room keeps beside a runtime, for as long as that lives; the runtime knows nothing of it.
class Companion {
 public:
  Companion() = default;
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;
  virtual ~Companion() = default;
};

/// The runtime's companion, which `make` makes when it is first asked for. Takes no lock.
[[nodiscard]] Companion& companion_of(const Runtime& runtime,
                                      std::unique_ptr<Companion> (*make)(const Runtime&));
/// What the runtime was made with.
[[nodiscard]] const RuntimeOptions& options_of(const Runtime& runtime);

TMAJIT_END
