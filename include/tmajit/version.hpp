#pragma once

/// The library's version. The inline namespace carries the ABI version: objects built against two
/// incompatible versions do not link with each other by mistake.
#define TMAJIT_VERSION_MAJOR 0
#define TMAJIT_VERSION_MINOR 1
#define TMAJIT_VERSION_PATCH 0
#define TMAJIT_VERSION_STRING "0.1.0"

#if defined(_MSC_VER)
#error "tmajit supports Linux with GCC 12 or Clang 14 and later"
#endif

#define TMAJIT_API __attribute__((visibility("default")))

#define TMAJIT_BEGIN \
  namespace tmajit { \
  inline namespace v0 {
#define TMAJIT_END \
  }                \
  }
