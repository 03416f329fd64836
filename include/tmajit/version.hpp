#pragma once

#if defined(_MSC_VER)
#error "tmajit supports Linux with GCC 12 or Clang 14 and later"
#elif __cplusplus < 202002L
#error "tmajit's headers are C++20: compile with -std=c++20 or later"
#endif

/// The library's version. It is defined only here: the build reads these lines.
#define TMAJIT_VERSION_MAJOR 0
#define TMAJIT_VERSION_MINOR 2
#define TMAJIT_VERSION_PATCH 0

// Two macros each, because # and ## use a macro's name instead of its value.
#define TMAJIT_QUOTE_(text) #text
#define TMAJIT_QUOTE(text) TMAJIT_QUOTE_(text)
#define TMAJIT_ABI_(major, minor) v##major##_##minor
#define TMAJIT_ABI(major, minor) TMAJIT_ABI_(major, minor)

/// "0.2.0"
#define TMAJIT_VERSION_STRING        \
  TMAJIT_QUOTE(TMAJIT_VERSION_MAJOR) \
  "." TMAJIT_QUOTE(TMAJIT_VERSION_MINOR) "." TMAJIT_QUOTE(TMAJIT_VERSION_PATCH)

#define TMAJIT_API __attribute__((visibility("default")))

/// The inline namespace, v0_2, carries the major and the minor version, as the libraries' sonames do: objects
/// built against versions whose interfaces differ do not link with each other by mistake.
#define TMAJIT_BEGIN \
  namespace tmajit { \
  inline namespace TMAJIT_ABI(TMAJIT_VERSION_MAJOR, TMAJIT_VERSION_MINOR) {
#define TMAJIT_END \
  }                \
  }
