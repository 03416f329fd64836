/* The benchmark's moves for other languages: peers.py calls them by ctypes on the buffers of other
 * libraries. Everything is plain C; the program tmajit-movement needs none of it.
 *
 * Functions that can fail return null or -1, and tmajit_movement_error() then says why. Texts that functions
 * return are the library's, and live until the same thread asks for another text. */
#ifndef TMAJIT_MOVEMENT_H
#define TMAJIT_MOVEMENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TMAJIT_MOVEMENT_API __attribute__((visibility("default")))

typedef struct tmajit_movement_session tmajit_movement_session;
typedef struct tmajit_movement_plan tmajit_movement_plan;

/* Why the calling thread's last call failed. */
TMAJIT_MOVEMENT_API const char* tmajit_movement_error(void);
/* "unavailable", "invalid_argument", …: tmajit's name for it. */
TMAJIT_MOVEMENT_API const char* tmajit_movement_error_code(void);

/* The list of cases, JSON, random permutations by `seed`. Needs no GPU. tiny: a few elements each. */
TMAJIT_MOVEMENT_API const char* tmajit_movement_cases(uint64_t seed, int tiny);

/* A device ("auto", "gpu", "gpu:N", "sim") and a runtime on it. A CUDA context that is current is used, so
 * that the addresses and streams of other libraries are good here. */
TMAJIT_MOVEMENT_API tmajit_movement_session* tmajit_movement_open(const char* device, uint64_t seed,
                                                                  int tiny);
TMAJIT_MOVEMENT_API void tmajit_movement_close(tmajit_movement_session* session);
/* Version, NVRTC and device, JSON. */
TMAJIT_MOVEMENT_API const char* tmajit_movement_describe(tmajit_movement_session* session);

/* The plan of case number `index` between two buffers, in which the arrays lie as the list says. Plans must
 * be freed before their session is closed. */
TMAJIT_MOVEMENT_API tmajit_movement_plan* tmajit_movement_make_plan(tmajit_movement_session* session,
                                                                    size_t index, uint64_t destination,
                                                                    uint64_t source);
/* Kernels, choices and planning time, JSON. */
TMAJIT_MOVEMENT_API const char* tmajit_movement_describe_plan(tmajit_movement_plan* plan);
/* Enqueues the move on a CUstream; works inside graph capture. */
TMAJIT_MOVEMENT_API int tmajit_movement_run(tmajit_movement_plan* plan, void* stream);
TMAJIT_MOVEMENT_API void tmajit_movement_free_plan(tmajit_movement_plan* plan);

/* cuMemcpyDtoDAsync. */
TMAJIT_MOVEMENT_API int tmajit_movement_copy(tmajit_movement_session* session, uint64_t destination,
                                             uint64_t source, uint64_t bytes, void* stream);

/* Memory for callers that have no other library to get it from. 0 on failure. */
TMAJIT_MOVEMENT_API uint64_t tmajit_movement_allocate(tmajit_movement_session* session, uint64_t bytes);
TMAJIT_MOVEMENT_API void tmajit_movement_free(tmajit_movement_session* session, uint64_t address);
TMAJIT_MOVEMENT_API int tmajit_movement_write(tmajit_movement_session* session, uint64_t address,
                                              const void* bytes, uint64_t count);
TMAJIT_MOVEMENT_API int tmajit_movement_read(tmajit_movement_session* session, void* bytes, uint64_t address,
                                             uint64_t count);

/* The cost of planning, JSON; see jit_cost.hpp. */
TMAJIT_MOVEMENT_API const char* tmajit_movement_jit(tmajit_movement_session* session, unsigned rounds);

#ifdef __cplusplus
}
#endif

#endif
