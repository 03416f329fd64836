#pragma once

/// TMAJIT_MEASURABLE is 1 if measured times are meaningful, which needs optimisation and no sanitizer. GCC
/// defines macros for sanitizers, Clang has features.
#if !defined(NDEBUG) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TMAJIT_MEASURABLE 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TMAJIT_MEASURABLE 0
#endif
#endif
#ifndef TMAJIT_MEASURABLE
#define TMAJIT_MEASURABLE 1
#endif
