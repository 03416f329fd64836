#include "runtime/recorder.hpp"

#include "files/files.hpp"
#include "runtime/made_for.hpp"
#include "spec/log.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/error.hpp>
#include <tmajit/runtime.hpp>

#include <cstdlib>
#include <exception>
#include <utility>

TMAJIT_BEGIN
namespace {

KernelRecipe record_of_plan(const KernelPlan& plan, Source source, CompileOptions options, MadeFor made_for) {
  const std::string_view generator = generator_id();
  // Without a generator's id, the source text alone identifies the kernel, as a user's own.
  return {.generator = std::string(generator),
          .plan_key = generator.empty() ? std::string() : std::string(plan.key()),
          .source = std::move(source),
          .options = std::move(options),
          .made_for = std::move(made_for)};
}

}  // namespace

KernelRecipe record_of(const KernelPlan& plan, const CompileOptions& options) {
  return record_of_plan(plan, source(plan), options, made_for(plan));
}

std::filesystem::path recording_file() {
  const char* const file = std::getenv("TMAJIT_RECORD");
  return file == nullptr ? "" : file;
}

void Recorder::add(const KernelRequest& request, const Source& source, const CompileOptions& options,
                   const MadeFor& made_for) const try {
  if (file_.empty()) return;
  const KernelRecipe record =
      request.plan != nullptr
          ? record_of_plan(*request.plan, source, options, made_for)
          : KernelRecipe{
                .generator = {}, .plan_key = {}, .source = source, .options = options, .made_for = made_for};
  if (const std::error_code error = append_file(file_, record.line(), AppendTo::any_file)) {
    log(warned_.exchange(true) ? LogLevel::debug : LogLevel::warn,
        "compiled kernels are not recorded in {}: {}", file_.string(), error.message());
  }
} catch (const std::exception& failure) {
  log(warned_.exchange(true) ? LogLevel::debug : LogLevel::warn, "{}", failure.what());
}

TMAJIT_END
