#ifndef CONSUMER_H
#define CONSUMER_H

// Macros and functions for all files of c_consumer, a C program that calls every part of the C interface. A
// failed check prints its file and line, and exits.
#include <tmajit/c.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(condition)                                                       \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: expected: %s\n", __FILE__, __LINE__, #condition); \
      exit(EXIT_FAILURE);                                                       \
    }                                                                           \
  } while (0)

// Checks that a call succeeds. Its last argument must be &error: the macro declares `error`.
#define EXPECT_OK(call)                                                                           \
  do {                                                                                            \
    tmajit_error* error = NULL;                                                                   \
    if ((call) != TMAJIT_OK) {                                                                    \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, tmajit_error_message(error)); \
      exit(EXIT_FAILURE);                                                                         \
    }                                                                                             \
    EXPECT(error == NULL);                                                                        \
  } while (0)

// Checks that a call fails with the status `expected`, and that its message contains `text`. The call's last
// argument must be &error: the macro declares `error`.
#define EXPECT_ERROR(expected, text, call)                                                          \
  do {                                                                                              \
    tmajit_error* error = NULL;                                                                     \
    const tmajit_status actual = (call);                                                            \
    if (actual != (expected) || tmajit_error_status(error) != actual ||                             \
        strstr(tmajit_error_message(error), (text)) == NULL) {                                      \
      fprintf(stderr, "%s:%d: %s: %s: %s\n", __FILE__, __LINE__, #call, tmajit_status_name(actual), \
              tmajit_error_message(error));                                                         \
      exit(EXIT_FAILURE);                                                                           \
    }                                                                                               \
    tmajit_error_destroy(error);                                                                    \
  } while (0)

// Returns a dense tensor that begins where `buffer` does. Its shape is [rows, columns], or [rows] if
// `columns` is 0.
tmajit_tensor dense_tensor(tmajit_dtype dtype, int64_t rows, int64_t columns, const tmajit_buffer* buffer);
// Makes a buffer of `bytes` bytes with a copy of `values`, or with zeros if `values` is null.
tmajit_buffer* make_buffer(tmajit_runtime* runtime, const void* values, uint64_t bytes);
// Copies all bytes of `buffer` to `values`, and waits for the copy.
void read_buffer(tmajit_runtime* runtime, const tmajit_buffer* buffer, void* values);

// Each function checks one part of the interface, in the file of its name: use_plans() is in plans.c.
void use_operations(tmajit_runtime* runtime);
void use_plans(tmajit_runtime* runtime);
void use_kernels(tmajit_runtime* runtime);
void use_tuning(tmajit_runtime* runtime);
void use_checks(void);
void use_errors(tmajit_runtime* runtime);

#endif
