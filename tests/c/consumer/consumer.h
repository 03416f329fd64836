#ifndef CONSUMER_H
#define CONSUMER_H

// Checks that all files of the program use. A failed check prints its file and line, and ends the program.
#include <tmajit/c.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPECT(holds)                                                       \
  do {                                                                      \
    if (!(holds)) {                                                         \
      fprintf(stderr, "%s:%d: expected: %s\n", __FILE__, __LINE__, #holds); \
      exit(EXIT_FAILURE);                                                   \
    }                                                                       \
  } while (0)

// Checks that the call, whose last argument is &error, succeeds.
#define EXPECT_OK(call)                                                                           \
  do {                                                                                            \
    tmajit_error* error = NULL;                                                                   \
    if ((call) != TMAJIT_OK) {                                                                    \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, tmajit_error_message(error)); \
      exit(EXIT_FAILURE);                                                                         \
    }                                                                                             \
    EXPECT(error == NULL);                                                                        \
  } while (0)

// Checks that the call, whose last argument is &error, fails with this status and a message that contains
// `words`.
#define EXPECT_ERROR(expected, words, call)                                                        \
  do {                                                                                             \
    tmajit_error* error = NULL;                                                                    \
    const tmajit_status found = (call);                                                            \
    if (found != (expected) || tmajit_error_status(error) != found ||                              \
        strstr(tmajit_error_message(error), (words)) == NULL) {                                    \
      fprintf(stderr, "%s:%d: %s: %s: %s\n", __FILE__, __LINE__, #call, tmajit_status_name(found), \
              tmajit_error_message(error));                                                        \
      exit(EXIT_FAILURE);                                                                          \
    }                                                                                              \
    tmajit_error_destroy(error);                                                                   \
  } while (0)

// A dense tensor of rank 2, or of rank 1 if `columns` is 0.
tmajit_tensor matrix(tmajit_dtype dtype, int64_t rows, int64_t columns, const tmajit_buffer* at);
// Makes a buffer with these bytes, or with zeros if `values` is null.
tmajit_buffer* buffer_of(tmajit_runtime* runtime, const void* values, uint64_t bytes);
// Copies a buffer's bytes to `values`, and waits.
void values_of(tmajit_runtime* runtime, const tmajit_buffer* buffer, void* values);

void use_operations(tmajit_runtime* runtime);
void use_plans(tmajit_runtime* runtime);
void use_kernels(tmajit_runtime* runtime);
void use_tuning(tmajit_runtime* runtime);
void use_checks(void);
void use_errors(tmajit_runtime* runtime);

#endif
