// A C interface to the benchmark's moves: peer_comparison/library.py calls it by ctypes on the buffers of
// other libraries. The program tmajit-movement does not use it.
//
// Functions that can fail return null or -1, and tmajit_movement_error() then says why. Returned texts belong
// to the library, and live until the same thread calls another function that returns a text.
#include "case_list.hpp"
#include "machine.hpp"
#include "model.hpp"
#include "targets.hpp"
#include "workload.hpp"

#include <tmajit/error.hpp>

#include <span>
#include <string>

#include <spdlog/fmt/fmt.h>

struct tmajit_movement_session {
  std::shared_ptr<tmajit::Device> device;
  tmajit::Runtime runtime;
  std::vector<bench::Case> cases;
};

struct tmajit_movement_plan {
  bench::PreparedCase prepared;
};

namespace {

/// The texts that a thread's last calls returned.
struct Answer {
  std::string text;   ///< JSON
  std::string error;  ///< the message of the last error
  std::string code;   ///< the name of its tmajit::ErrorCode
};

Answer& answer() {
  thread_local Answer of_thread;
  return of_thread;
}

/// Returns the result of `call`. If it throws, stores the reason and returns `failed`, because no exception
/// may leave a C function.
template <class Result, class Call>
Result guard(Result failed, const Call& call) noexcept {
  try {
    try {
      return call();
    } catch (const tmajit::Error& error) {
      answer().error = error.what();
      answer().code = tmajit::name(error.code());
    } catch (const std::exception& error) {
      answer().error = error.what();
      answer().code = "internal";
    }
  } catch (...) {  // no memory for the message
  }
  return failed;
}

/// Returns 0, or -1 if `call` throws.
template <class Call>
int perform(const Call& call) noexcept {
  return guard(-1, [&] { return call(), 0; });
}

/// The JSON that `call` returns, as text; null if it throws.
template <class Call>
const char* json_text(const Call& call) noexcept {
  return guard<const char*>(nullptr, [&] {
    answer().text = nlohmann::ordered_json(call()).dump();
    return answer().text.c_str();
  });
}

/// The name of the only operation whose cases are listed; empty: the default list.
std::string_view only_operation(int reductions, int scans, int stencils) {
  return reductions != 0 ? "reduce" : scans != 0 ? "scan" : stencils != 0 ? "stencil" : "";
}

tmajit_movement_session* open(const char* device, const tmajit::Improve& improve, uint64_t seed, int tiny,
                              size_t random, int views, int reductions, int scans, int stencils) {
  return guard<tmajit_movement_session*>(nullptr, [&] {
    std::shared_ptr<tmajit::Device> opened = bench::open_device(device);
    const tmajit::Runtime runtime({.device = opened, .improve = improve});
    return new tmajit_movement_session{
        opened, runtime,
        bench::list_cases({.seed = seed,
                           .tiny = tiny != 0,
                           .random = random,
                           .random_views = views != 0,
                           .operation = only_operation(reductions, scans, stencils)})};
  });
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

/// The reason why the calling thread's last call failed.
const char* tmajit_movement_error() {
  return answer().error.c_str();
}

/// The name of that error's tmajit::ErrorCode: "unavailable", "invalid_argument", …
const char* tmajit_movement_error_code() {
  return answer().code.c_str();
}

/// The list of cases as JSON. Needs no GPU. seed: seed of random cases. tiny: cases have few elements.
/// random: instead of the list, this many random permutations of each type; with `views`, this many pads,
/// slices, flips, broadcasts, casts and maps each. reductions, scans, stencils: only these operations; with
/// `random`, this many random cases.
const char* tmajit_movement_cases(uint64_t seed, int tiny, size_t random, int views, int reductions,
                                  int scans, int stencils) {
  return json_text([&] {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const bench::Case& bench_case : bench::list_cases({.seed = seed,
                                         .tiny = tiny != 0,
                                         .random = random,
                                         .random_views = views != 0,
                                         .operation = only_operation(reductions, scans, stencils)}))
      list.push_back(to_json(bench_case));
    return list;
  });
}

/// Opens a device ("auto", "gpu", "gpu:N", "sim") and a runtime on it. It uses the current CUDA context, so
/// that addresses and streams of other libraries are valid here.
tmajit_movement_session* tmajit_movement_open(const char* device, uint64_t seed, int tiny, size_t random,
                                              int views, int reductions, int scans, int stencils) {
  return open(device, {}, seed, tiny, random, views, reductions, scans, stencils);
}

/// The same with a runtime that tries 8 kernels for each move.
tmajit_movement_session* tmajit_movement_open_improving(const char* device, uint64_t seed, int tiny,
                                                        size_t random, int views, int reductions, int scans,
                                                        int stencils) {
  return open(device, {.candidates = 8}, seed, tiny, random, views, reductions, scans, stencils);
}

void tmajit_movement_close(tmajit_movement_session* session) {
  delete session;
}

/// The versions of tmajit and NVRTC, and the device, as JSON.
const char* tmajit_movement_describe(tmajit_movement_session* session) {
  return json_text([&] {
    nlohmann::ordered_json json{{"tmajit", TMAJIT_VERSION_STRING},
                                {"device", bench::to_json(session->device->info())},
                                {"nvrtc", nullptr}};
    if (const std::string nvrtc = bench::nvrtc_version(); !nvrtc.empty()) json["nvrtc"] = nvrtc;
    return json;
  });
}

/// The cost model's prediction for every kernel that could do case number `index`, as the JSON of
/// predicted_times(). The chip is {"name", "gbps", "sm_count", "costs": {name: number}}.
const char* tmajit_movement_predict(tmajit_movement_session* session, size_t index, const char* chip) {
  return json_text([&] {
    return movement::predicted_times(session->cases.at(index),
                                     movement::chip_of(nlohmann::ordered_json::parse(chip)));
  });
}

/// The plan of case number `index` between two buffers, with the arrays at the offsets of the list. Plans
/// must be freed before their session is closed.
tmajit_movement_plan* tmajit_movement_make_plan(tmajit_movement_session* session, size_t index,
                                                uint64_t destination, uint64_t source) {
  return guard<tmajit_movement_plan*>(nullptr, [&] {
    return new tmajit_movement_plan{
        bench::PreparedCase(session->runtime, session->cases.at(index), destination, source)};
  });
}

/// Kernels, choices and planning time, as JSON.
const char* tmajit_movement_describe_plan(tmajit_movement_plan* plan) {
  return json_text([&] { return plan->prepared.describe(); });
}

/// Enqueues the move on a CUstream; works inside graph capture.
int tmajit_movement_run(tmajit_movement_plan* plan, void* stream) {
  return perform([&] { plan->prepared(static_cast<tmajit::Stream>(stream)); });
}

void tmajit_movement_free_plan(tmajit_movement_plan* plan) {
  delete plan;
}

/// Enqueues cuMemcpyDtoDAsync.
int tmajit_movement_copy(tmajit_movement_session* session, uint64_t destination, uint64_t source,
                         uint64_t bytes, void* stream) {
  return perform([&] {
    session->device->memory().copy(destination, source, bytes, static_cast<tmajit::Stream>(stream));
  });
}

/// Allocates device memory, for callers without another library that allocates it. Returns 0 on failure.
uint64_t tmajit_movement_allocate(tmajit_movement_session* session, uint64_t bytes) {
  return guard<uint64_t>(0, [&] { return session->device->memory().allocate(bytes); });
}

void tmajit_movement_free(tmajit_movement_session* session, uint64_t address) {
  session->device->memory().free(address);
}

int tmajit_movement_write(tmajit_movement_session* session, uint64_t address, const void* bytes,
                          uint64_t count) {
  return perform([&] {
    session->device->memory().copy_in(address, std::span(static_cast<const std::byte*>(bytes), count),
                                      nullptr);
    session->device->streams().synchronize(nullptr);
  });
}

int tmajit_movement_read(tmajit_movement_session* session, void* bytes, uint64_t address, uint64_t count) {
  return perform([&] {
    session->device->memory().copy_out(std::span(static_cast<std::byte*>(bytes), count), address, nullptr);
    session->device->streams().synchronize(nullptr);
  });
}

/// The cost of planning as JSON; see targets.hpp.
const char* tmajit_movement_jit(tmajit_movement_session* session, unsigned rounds) {
  return json_text([&] { return movement::measure_jit(session->device, rounds); });
}

}  // extern "C"
#pragma GCC visibility pop
