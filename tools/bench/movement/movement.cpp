#include "movement.h"

#include "case_list.hpp"
#include "jit_cost.hpp"
#include "machine.hpp"
#include "plan_case.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>

#include <span>
#include <string>

#include <spdlog/fmt/fmt.h>

struct tmajit_movement_session {
  std::shared_ptr<tmajit::Device> device;
  tmajit::Runtime runtime;
  std::vector<movement::Case> cases;
};

struct tmajit_movement_plan {
  tmajit::MovePlan plan;
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

const char* keep(const nlohmann::ordered_json& json) {
  answer().text = json.dump();
  return answer().text.c_str();
}

tmajit::Stream stream_of(void* stream) {
  return static_cast<tmajit::Stream>(stream);
}

}  // namespace

const char* tmajit_movement_error(void) {
  return answer().error.c_str();
}

const char* tmajit_movement_error_code(void) {
  return answer().code.c_str();
}

const char* tmajit_movement_cases(uint64_t seed, int tiny) {
  return guard<const char*>(nullptr, [&] {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const movement::Case& c : movement::list_cases({seed, tiny != 0})) list.push_back(to_json(c));
    return keep(list);
  });
}

tmajit_movement_session* tmajit_movement_open(const char* device, uint64_t seed, int tiny) {
  return guard<tmajit_movement_session*>(nullptr, [&] {
    std::shared_ptr<tmajit::Device> opened = movement::open_device(device);
    tmajit::Runtime runtime({.device = opened});
    return new tmajit_movement_session{opened, std::move(runtime), movement::list_cases({seed, tiny != 0})};
  });
}

void tmajit_movement_close(tmajit_movement_session* session) {
  delete session;
}

const char* tmajit_movement_describe(tmajit_movement_session* session) {
  return guard<const char*>(nullptr, [&] {
    const tmajit::DeviceInfo& info = session->device->info();
    nlohmann::ordered_json json{{"tmajit", TMAJIT_VERSION_STRING},
                                {"device",
                                 {{"name", info.name},
                                  {"ordinal", info.ordinal},
                                  {"sm_count", info.sm_count},
                                  {"memory_bytes", info.memory_bytes},
                                  {"l2_bytes", info.l2_bytes}}}};
    try {
      const tmajit::CompilerIdentity& nvrtc = tmajit::compiler();
      json["nvrtc"] = fmt::format("{}.{}", nvrtc.major, nvrtc.minor);
    } catch (const tmajit::Error&) {
      json["nvrtc"] = nullptr;  // plans whose kernels are cached still work
    }
    return keep(json);
  });
}

tmajit_movement_plan* tmajit_movement_make_plan(tmajit_movement_session* session, size_t index,
                                                uint64_t destination, uint64_t source) {
  return guard<tmajit_movement_plan*>(nullptr, [&] {
    return new tmajit_movement_plan{
        movement::plan_case(session->runtime, session->cases.at(index), destination, source)};
  });
}

const char* tmajit_movement_describe_plan(tmajit_movement_plan* plan) {
  return guard<const char*>(nullptr, [&] { return keep(movement::describe(plan->plan)); });
}

int tmajit_movement_run(tmajit_movement_plan* plan, void* stream) {
  return guard(-1, [&] {
    plan->plan(stream_of(stream));
    return 0;
  });
}

void tmajit_movement_free_plan(tmajit_movement_plan* plan) {
  delete plan;
}

int tmajit_movement_copy(tmajit_movement_session* session, uint64_t destination, uint64_t source,
                         uint64_t bytes, void* stream) {
  return guard(-1, [&] {
    session->device->copy(destination, source, bytes, stream_of(stream));
    return 0;
  });
}

uint64_t tmajit_movement_allocate(tmajit_movement_session* session, uint64_t bytes) {
  return guard<uint64_t>(0, [&] { return session->device->allocate(bytes); });
}

void tmajit_movement_free(tmajit_movement_session* session, uint64_t address) {
  session->device->free(address);
}

int tmajit_movement_write(tmajit_movement_session* session, uint64_t address, const void* bytes,
                          uint64_t count) {
  return guard(-1, [&] {
    session->device->copy_in(address, std::span(static_cast<const std::byte*>(bytes), count), nullptr);
    session->device->synchronize(nullptr);
    return 0;
  });
}

int tmajit_movement_read(tmajit_movement_session* session, void* bytes, uint64_t address, uint64_t count) {
  return guard(-1, [&] {
    session->device->copy_out(std::span(static_cast<std::byte*>(bytes), count), address, nullptr);
    session->device->synchronize(nullptr);
    return 0;
  });
}

const char* tmajit_movement_jit(tmajit_movement_session* session, unsigned rounds) {
  return guard<const char*>(nullptr, [&] { return keep(movement::measure_jit(session->device, rounds)); });
}
