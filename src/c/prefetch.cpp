#include "c/handles.hpp"

#include <tmajit/c/prefetch.h>
#include <tmajit/prefetch.hpp>

#include <algorithm>
#include <chrono>
#include <vector>

struct tmajit_prefetch {
  tmajit::Prefetch prefetch;
};

using namespace tmajit;

tmajit_status tmajit_prefetch_make(tmajit_runtime* runtime, const tmajit_operation* const* operations,
                                   size_t operation_count, const tmajit_prefetch_options* options,
                                   tmajit_prefetch** prefetch, tmajit_error** error) {
  return c::guarded(error, [&] {
    c::clear_result(prefetch, "prefetch");
    const Runtime& cpp_runtime = c::require_non_null(runtime, "runtime").runtime;
    const tmajit_prefetch_options c_options = c::read_optional(options, "options");
    c::require_zero("options", c_options.reserved);
    PrefetchOptions cpp_options{.threads = c_options.threads};
    if (c_options.progress != nullptr) {
      cpp_options.progress = [c_options](const PrefetchProgress& now) {
        c_options.progress(c_options.progress_context, now.done, now.total, now.kernel.c_str(),
                           now.error.c_str());
      };
    }
    std::vector<Operation> all;
    for (const tmajit_operation* const one : c::array(operations, operation_count, "operations"))
      all.push_back(c::require_non_null(one, fmt::format("operation {}", all.size())).operation);
    *prefetch =
        new tmajit_prefetch{tmajit::prefetch(cpp_runtime, List<Operation>(std::span(all)), cpp_options)};
  });
}

void tmajit_prefetch_destroy(tmajit_prefetch* prefetch) {
  delete prefetch;
}

size_t tmajit_prefetch_done(const tmajit_prefetch* prefetch) {
  return prefetch == nullptr ? 0 : prefetch->prefetch.done();
}

size_t tmajit_prefetch_made(const tmajit_prefetch* prefetch) {
  return prefetch == nullptr ? 0 : prefetch->prefetch.made();
}

size_t tmajit_prefetch_total(const tmajit_prefetch* prefetch) {
  return prefetch == nullptr ? 0 : prefetch->prefetch.total();
}

void tmajit_prefetch_cancel(tmajit_prefetch* prefetch) {
  if (prefetch != nullptr) prefetch->prefetch.cancel();
}

int32_t tmajit_prefetch_wait(const tmajit_prefetch* prefetch, uint64_t milliseconds) {
  constexpr std::uint64_t week = 7ULL * 24 * 3600 * 1000;  // longer limits would exceed what a clock counts
  return prefetch == nullptr ||
         prefetch->prefetch.wait_for(std::chrono::milliseconds(std::min<std::uint64_t>(milliseconds, week)));
}

size_t tmajit_prefetch_failure_count(const tmajit_prefetch* prefetch) {
  return prefetch == nullptr ? 0 : prefetch->prefetch.failures().size();
}

tmajit_status tmajit_prefetch_failure(const tmajit_prefetch* prefetch, size_t index, tmajit_text** text,
                                      tmajit_error** error) {
  return c::store_text(text, error, [&] {
    const std::vector<Prefetch::Failure> failures =
        c::require_non_null(prefetch, "prefetch").prefetch.failures();
    const Prefetch::Failure& failure = c::item(failures, index, "failure");
    return failure.kernel + ": " + failure.error;
  });
}
