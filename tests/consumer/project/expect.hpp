// Checks for all parts of the consumer program. A failed check prints its file, line and text and ends the
// program.
#pragma once

#include <tmajit/error.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <unistd.h>

// Clang 14 has no std::source_location.
inline void expect(bool holds, const char* what, const char* file = __builtin_FILE(),
                   int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
  std::exit(EXIT_FAILURE);
}

/// Checks that `call` throws an Error with `code`.
template <class Call>
void expect_error(tmajit::ErrorCode code, const Call& call, const char* file = __builtin_FILE(),
                  int line = __builtin_LINE()) {
  try {
    call();
  } catch (const tmajit::Error& error) {
    if (error.code() != code) std::fprintf(stderr, "%s: %s\n", name(error.code()).data(), error.what());
    return expect(error.code() == code, name(code).data(), file, line);
  }
  expect(false, name(code).data(), file, line);
}

/// A path of this process in the temporary folder. The destructor removes it.
class Scratch {
 public:
  Scratch() { std::filesystem::remove_all(path); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::filesystem::remove_all(path); }
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("tmajit_consumer_" + std::to_string(getpid()));
};

void describe();
void describe_operations();
void plan_moves();
void plan_own_tiles();
void keep_choices();
void compile_and_cache();
void record_and_pack();
void run_without_a_device();
