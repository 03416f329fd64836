#include "c/errors.hpp"

#include "c/structs.hpp"

#include <tmajit/version.hpp>

#include <cstring>
#include <exception>
#include <new>
#include <string_view>

TMAJIT_BEGIN
namespace c {
namespace {

tmajit_status status_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument: return TMAJIT_INVALID_ARGUMENT;
    case ErrorCode::illegal_spec: return TMAJIT_ILLEGAL_SPEC;
    case ErrorCode::compile_failed: return TMAJIT_COMPILE_FAILED;
    case ErrorCode::unavailable: return TMAJIT_UNAVAILABLE;
    case ErrorCode::io: return TMAJIT_IO;
    case ErrorCode::out_of_memory: return TMAJIT_OUT_OF_MEMORY;
    case ErrorCode::device_failed: return TMAJIT_DEVICE_FAILED;
    case ErrorCode::invalid_image: return TMAJIT_INVALID_IMAGE;
    case ErrorCode::unsupported: return TMAJIT_UNSUPPORTED;
    case ErrorCode::internal: return TMAJIT_INTERNAL;
    case ErrorCode::missing_kernel: return TMAJIT_MISSING_KERNEL;
  }
  return TMAJIT_INTERNAL;
}

/// The error that a call stores if its own error cannot be allocated. It is made when the library is loaded,
/// and its text is short enough to be stored in the std::string object. tmajit_error_destroy() does not
/// delete it.
tmajit_error out_of_memory{TMAJIT_OUT_OF_MEMORY, "no host memory", {}, {}};

/// The error of the exception that is being handled.
tmajit_error current_error() {
  try {
    throw;
  } catch (const SpecError& error) {
    return {status_of(error.code()), error.what(), {}, error.violations()};
  } catch (const CompileError& error) {
    return {status_of(error.code()), error.what(), error.log(), {}};
  } catch (const Error& error) {
    return {status_of(error.code()), error.what(), {}, {}};
  } catch (const std::bad_alloc&) {
    return {TMAJIT_OUT_OF_MEMORY, "no host memory", {}, {}};
  } catch (const std::exception& error) {
    return {TMAJIT_INTERNAL, error.what(), {}, {}};
  } catch (...) {
    return {TMAJIT_INTERNAL, "an exception of an unknown type", {}, {}};
  }
}

}  // namespace

tmajit_status store_current_error(tmajit_error** error) noexcept {
  try {
    tmajit_error stored = current_error();
    const tmajit_status status = stored.status;
    if (error != nullptr) *error = new tmajit_error(std::move(stored));
    return status;
  } catch (...) {
    if (error != nullptr) *error = &out_of_memory;
    return TMAJIT_OUT_OF_MEMORY;
  }
}

}  // namespace c
TMAJIT_END

using namespace tmajit;

const char* tmajit_status_name(tmajit_status status) {
  if (status == TMAJIT_OK) return "ok";
  for (int code = 0; code <= static_cast<int>(ErrorCode::missing_kernel); ++code)
    if (c::status_of(static_cast<ErrorCode>(code)) == status)
      return name(static_cast<ErrorCode>(code)).data();
  return "unknown";
}

const char* tmajit_version(void) {
  return TMAJIT_VERSION_STRING;
}

void tmajit_error_destroy(tmajit_error* error) {
  if (error != &c::out_of_memory) delete error;
}

tmajit_status tmajit_error_status(const tmajit_error* error) {
  return error == nullptr ? TMAJIT_OK : error->status;
}

const char* tmajit_error_message(const tmajit_error* error) {
  return error == nullptr ? "" : error->message.c_str();
}

const char* tmajit_error_log(const tmajit_error* error) {
  return error == nullptr ? "" : error->log.c_str();
}

size_t tmajit_error_violation_count(const tmajit_error* error) {
  return error == nullptr ? 0 : error->violations.size();
}

tmajit_status tmajit_error_violation(const tmajit_error* error, size_t index, tmajit_violation* violation) {
  return c::guarded(nullptr, [&] {
    const Violation& broken = c::item(c::require_non_null(error, "error").violations, index, "violation");
    c::fill(violation, "violation",
            {.size = 0,
             .rule = broken.rule.c_str(),
             .subject = broken.subject.c_str(),
             .found = broken.found.c_str(),
             .need = broken.need.c_str(),
             .legal = broken.legal.c_str(),
             .source = broken.source.c_str()});
  });
}

void tmajit_text_destroy(tmajit_text* text) {
  delete text;
}

const char* tmajit_text_data(const tmajit_text* text) {
  return text == nullptr ? "" : text->bytes.c_str();
}

size_t tmajit_text_size(const tmajit_text* text) {
  return text == nullptr ? 0 : text->bytes.size();
}
