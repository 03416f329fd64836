#pragma once

#include <tmajit/runtime.hpp>

#include <memory>

TMAJIT_BEGIN

/// An object that another component attaches to a runtime for the runtime's lifetime. The runtime does not
/// know its type.
class Companion {
 public:
  Companion() = default;
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;
  virtual ~Companion() = default;
};

/// The runtime's companion; the first call creates it by `make`. Takes no lock.
[[nodiscard]] Companion& companion_of(const Runtime& runtime,
                                      std::unique_ptr<Companion> (*make)(const Runtime&));
/// Returns the options that the runtime was made with.
[[nodiscard]] const RuntimeOptions& options_of(const Runtime& runtime);

TMAJIT_END
