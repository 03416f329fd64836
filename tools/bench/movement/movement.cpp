// The benchmark's moves for other languages: beside/library.py calls them by ctypes on the buffers of other
// libraries. Everything is plain C; the program tmajit-movement needs none of it.
//
// Functions that can fail return null or -1, and tmajit_movement_error() then says why. Texts that functions
// return are the library's, and live until the same thread asks for another text.
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

struct Answer {
  std::string text;
  std::string error;
  std::string code;
};

Answer& answer() {
  thread_local Answer own;
  return own;
}

/// The result of `call`, or `failed` with the reason kept: no exception may leave a C function.
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

/// 0, or -1 where `call` throws.
template <class Call>
int perform(const Call& call) noexcept {
  return guard(-1, [&] { return call(), 0; });
}

/// The JSON that `call` makes, as text; null where it throws.
template <class Call>
const char* tell(const Call& call) noexcept {
  return guard<const char*>(nullptr, [&] {
    answer().text = nlohmann::ordered_json(call()).dump();
    return answer().text.c_str();
  });
}

/// The one operation whose cases are listed, or nothing.
std::string_view alone(int reductions, int scans) {
  return reductions != 0 ? "reduce" : scans != 0 ? "scan" : "";
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

/// Why the calling thread's last call failed.
const char* tmajit_movement_error() {
  return answer().error.c_str();
}

/// "unavailable", "invalid_argument", …: tmajit's name for it.
const char* tmajit_movement_error_code() {
  return answer().code.c_str();
}

/// The list of cases, JSON, random ones by `seed`. Needs no GPU. tiny: a few elements each. random: so many
/// random permutations of each type instead of the list; with `views` as many of each other kind of move;
/// with `reductions` or `scans` those alone, or so many random ones.
const char* tmajit_movement_cases(uint64_t seed, int tiny, size_t random, int views, int reductions,
                                  int scans) {
  return tell([&] {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const bench::Case& c : bench::list_cases({.seed = seed,
                                .tiny = tiny != 0,
                                .random = random,
                                .random_views = views != 0,
                                .operation = alone(reductions, scans)}))
      list.push_back(to_json(c));
    return list;
  });
}

/// A device ("auto", "gpu", "gpu:N", "sim") and a runtime on it. A CUDA context that is current is used, so
/// that the addresses and streams of other libraries are good here.
tmajit_movement_session* tmajit_movement_open(const char* device, uint64_t seed, int tiny, size_t random,
                                              int views, int reductions, int scans) {
  return guard<tmajit_movement_session*>(nullptr, [&] {
    std::shared_ptr<tmajit::Device> opened = bench::open_device(device);
    tmajit::Runtime runtime({.device = opened});
    return new tmajit_movement_session{opened, std::move(runtime),
                                       bench::list_cases({.seed = seed,
                                                          .tiny = tiny != 0,
                                                          .random = random,
                                                          .random_views = views != 0,
                                                          .operation = alone(reductions, scans)})};
  });
}

void tmajit_movement_close(tmajit_movement_session* session) {
  delete session;
}

/// Version, NVRTC and device, JSON.
const char* tmajit_movement_describe(tmajit_movement_session* session) {
  return tell([&] {
    nlohmann::ordered_json json{{"tmajit", TMAJIT_VERSION_STRING},
                                {"device", bench::to_json(session->device->info())},
                                {"nvrtc", nullptr}};
    if (const std::string nvrtc = bench::nvrtc_version(); !nvrtc.empty()) json["nvrtc"] = nvrtc;
    return json;
  });
}

/// How long the cost model lets every kernel take that could do case number `index`, JSON as
/// predicted_times() has it: on a chip, {"name", "gbps", "sm_count", "costs": {name: number}}.
const char* tmajit_movement_predict(tmajit_movement_session* session, size_t index, const char* chip) {
  return tell([&] {
    return movement::predicted_times(session->cases.at(index),
                                     movement::chip_of(nlohmann::ordered_json::parse(chip)));
  });
}

/// The plan of case number `index` between two buffers, in which the arrays lie as the list says. Plans must
/// be freed before their session is closed.
tmajit_movement_plan* tmajit_movement_make_plan(tmajit_movement_session* session, size_t index,
                                                uint64_t destination, uint64_t source) {
  return guard<tmajit_movement_plan*>(nullptr, [&] {
    return new tmajit_movement_plan{
        bench::PreparedCase(session->runtime, session->cases.at(index), destination, source)};
  });
}

/// Kernels, choices and planning time, JSON.
const char* tmajit_movement_describe_plan(tmajit_movement_plan* plan) {
  return tell([&] { return plan->prepared.describe(); });
}

/// Enqueues the move on a CUstream; works inside graph capture.
int tmajit_movement_run(tmajit_movement_plan* plan, void* stream) {
  return perform([&] { plan->prepared(static_cast<tmajit::Stream>(stream)); });
}

void tmajit_movement_free_plan(tmajit_movement_plan* plan) {
  delete plan;
}

/// cuMemcpyDtoDAsync.
int tmajit_movement_copy(tmajit_movement_session* session, uint64_t destination, uint64_t source,
                         uint64_t bytes, void* stream) {
  return perform([&] {
    session->device->memory().copy(destination, source, bytes, static_cast<tmajit::Stream>(stream));
  });
}

/// Memory for callers that have no other library to get it from. 0 on failure.
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

/// The cost of planning, JSON; see targets.hpp.
const char* tmajit_movement_jit(tmajit_movement_session* session, unsigned rounds) {
  return tell([&] { return movement::measure_jit(session->device, rounds); });
}

}  // extern "C"
#pragma GCC visibility pop
