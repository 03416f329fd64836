#pragma once

#include "compile/nvrtc.hpp"
#include "eventually.hpp"
#include "runtime/builder.hpp"

#include <tmajit/error.hpp>

#include <atomic>
#include <cstdlib>
#include <string>

namespace tests {

/// A compiler that counts, and that a test can block and make fail. There is one for the process, because a
/// Toolchain consists of plain functions; a test resets it first.
struct FakeCompiler {
  std::atomic<int> asked = 0;     ///< calls that would load NVRTC
  std::atomic<int> started = 0;   ///< compiles that began
  std::atomic<int> compiles = 0;  ///< compiles that succeeded
  std::atomic<bool> blocked = false;
  std::atomic<bool> fails = false;

  void reset() {
    asked = started = compiles = 0;
    fails = false;
    unblock();
  }
  void unblock() {
    blocked = false;
    blocked.notify_all();
  }
  [[nodiscard]] static tmajit::Toolchain toolchain();
};
inline FakeCompiler fake_compiler;

/// An identity of a file that stays what it is, so that kernels on disk are found without the compiler.
inline const tmajit::CompilerIdentity& fake_identity() {
  // Never destroyed: background threads may use it while the process ends.
  static const tmajit::CompilerIdentity& identity = *[] {
    const char* const chosen = std::getenv("TMAJIT_NVRTC");
    const std::string path = chosen != nullptr && *chosen != '\0' ? chosen : "/proc/self/exe";
    return new tmajit::CompilerIdentity{13, 0, "fake", path, tmajit::file_stamp(path)};
  }();
  ++fake_compiler.asked;
  return identity;
}

inline tmajit::Artifact fake_artifact(const tmajit::Source& source, const tmajit::CompileOptions&) {
  ++fake_compiler.started;
  fake_compiler.blocked.wait(true);
  if (fake_compiler.fails) throw tmajit::CompileError("the fake compiler refuses", "log");
  ++fake_compiler.compiles;
  tmajit::Artifact artifact;
  artifact.entry = source.entry;
  artifact.source = source.text;
  artifact.ptx = "ptx";
  artifact.cubin.resize(100, std::byte{7});
  return artifact;
}

inline tmajit::Toolchain FakeCompiler::toolchain() {
  return {.identity = &fake_identity, .compile = &fake_artifact};
}

}  // namespace tests
