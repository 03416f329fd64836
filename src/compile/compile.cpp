#include "compile/diagnostics.hpp"
#include "compile/entry.hpp"
#include "compile/expression.hpp"
#include "compile/nvrtc.hpp"
#include "compile/options.hpp"
#include "spec/log.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>

#include <algorithm>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN

namespace {

/// An NVRTC program and its results.
class Program {
 public:
  Program(const NvrtcApi& api, const Source& source) : api_(api) {
    const std::string name = is_identifier(source.entry) ? source.entry + ".cu" : "kernel.cu";
    std::vector<const char*> names;
    std::vector<const char*> texts;
    if (source.headers) {
      for (const auto& [header, text] : *source.headers) {
        names.push_back(header.c_str());
        texts.push_back(text.c_str());
      }
    }
    require(api_.create_program(&program_, source.text.c_str(), name.c_str(), static_cast<int>(names.size()),
                                texts.data(), names.data()),
            "nvrtcCreateProgram");
    if (is_name_expression(source.entry))
      require(api_.add_name_expression(program_, source.entry.c_str()), "nvrtcAddNameExpression");
  }
  ~Program() { api_.destroy_program(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  nvrtcResult compile(const std::vector<std::string>& options) {
    std::vector<const char*> pointers;
    pointers.reserve(options.size());
    for (const auto& option : options) pointers.push_back(option.c_str());
    return api_.compile_program(program_, static_cast<int>(pointers.size()), pointers.data());
  }

  /// The mangled name, in the PTX, of the kernel that a name expression names.
  [[nodiscard]] std::string lowered(const std::string& expression) const {
    const char* name = nullptr;
    require(api_.lowered_name(program_, expression.c_str(), &name), "nvrtcGetLoweredName");
    return name;
  }
  [[nodiscard]] std::string log() const { return text(api_.log_size, api_.log, "nvrtcGetProgramLog"); }
  [[nodiscard]] std::string ptx() const { return text(api_.ptx_size, api_.ptx, "nvrtcGetPTX"); }
  [[nodiscard]] std::vector<std::byte> cubin() const {
    return get<std::vector<std::byte>>(api_.cubin_size, api_.cubin, "nvrtcGetCUBIN");
  }

  void require(nvrtcResult result, const char* call) const {
    if (result == NVRTC_SUCCESS) return;
    throw Error(result == NVRTC_ERROR_OUT_OF_MEMORY ? ErrorCode::out_of_memory : ErrorCode::internal,
                fmt::format("{} failed: {}", call, api_.error_string(result)));
  }

 private:
  template <class Bytes>
  [[nodiscard]] Bytes get(decltype(NvrtcApi::ptx_size) size, decltype(NvrtcApi::ptx) read,
                          const char* call) const {
    std::size_t bytes = 0;
    require(size(program_, &bytes), call);
    Bytes result(bytes, typename Bytes::value_type{});
    if (bytes > 0) require(read(program_, reinterpret_cast<char*>(result.data())), call);
    return result;
  }
  /// NVRTC's sizes include the terminating zero, and a log of several parts has zeros between them.
  [[nodiscard]] std::string text(decltype(NvrtcApi::ptx_size) size, decltype(NvrtcApi::ptx) read,
                                 const char* call) const {
    auto result = get<std::string>(size, read, call);
    result.erase(std::find_if(result.rbegin(), result.rend(), [](char c) { return c != '\0'; }).base(),
                 result.end());
    std::replace(result.begin(), result.end(), '\0', '\n');
    return result;
  }

  NvrtcUse use_;  // the first member, so that it is destroyed last
  const NvrtcApi& api_;
  nvrtcProgram program_ = nullptr;
};

/// Throws if a text holds a zero byte, at which NVRTC would stop reading.
void require_text(const Source& source) {
  const auto require = [&](std::string_view what, const std::string& text) {
    if (text.find('\0') == std::string::npos) return;
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} of kernel \"{}\" holds a zero byte", what, source.entry));
  };
  require("the source", source.text);
  require("the name", source.entry);
  if (!source.headers) return;
  for (const auto& [name, text] : *source.headers) {
    require("the name of a header", name);
    require(fmt::format("the header \"{}\"", name), text);
  }
}

/// Throws the exception for a failed compile: the user's mistake, an illegal option, or a broken NVRTC.
[[noreturn]] void fail(nvrtcResult result, const Nvrtc& nvrtc, const Program& program, const Source& source,
                       const std::vector<std::string>& options) {
  [[maybe_unused]] const auto& [major, minor, build, path, stamp] = nvrtc.identity();
  const auto log = program.log();
  switch (result) {
    case NVRTC_ERROR_COMPILATION: {
      throw CompileError(explain(log, program.ptx(), source.entry, source.expression), log);
    }
    case NVRTC_ERROR_INVALID_OPTION:
      throw Error(ErrorCode::invalid_argument, fmt::format("NVRTC {}.{} refuses the options {}: {}", major,
                                                           minor, fmt::join(options, " "), log));
    case NVRTC_ERROR_BUILTIN_OPERATION_FAILURE:
      throw Error(ErrorCode::unavailable,
                  fmt::format("NVRTC {}.{} from {} is incomplete (libnvrtc-builtins.so.{}.{} belongs beside "
                              "it): {}\nTo get it: {}",
                              major, minor, path, major, minor, log, nvrtc_remedy()));
    default: program.require(result, "nvrtcCompileProgram");
  }
  throw Error(ErrorCode::internal, "nvrtcCompileProgram failed without a result");
}

/// Compiles `source` with NVRTC. The artifact's resources are not set yet.
Artifact compile_with(const Nvrtc& nvrtc, const Source& source, const std::vector<std::string>& options) {
  Program program(nvrtc.api(), source);
  if (const auto result = program.compile(options); result != NVRTC_SUCCESS) {
    fail(result, nvrtc, program, source, options);
  }
  std::string ptx = program.ptx();
  std::string entry = is_name_expression(source.entry) ? program.lowered(source.entry)
                                                       : find_entry(source.entry, ptx, program.log());
  return {std::move(entry), source.text, std::move(ptx), program.cubin(), program.log(), {}};
}

}  // namespace

// NVRTC accepts calls from several threads at once, each with its own program, and since 12.3 compiles them
// in parallel (13.0, two threads on two cores: twice the kernels in the same time). So compile() holds no
// lock except NvrtcUse, for which a fork waits.
Artifact compile(const Source& source, const CompileOptions& options) {
  if (!source.expression.empty()) require_expression(source.expression);
  require_text(source);
  if (!source.epilogue.empty()) require_expression(source.epilogue);
  for (const std::string& step : source.steps) require_expression(step);
  const Nvrtc& nvrtc = Nvrtc::instance();
  const auto arguments = nvrtc_options(source, options, nvrtc.identity());
  Artifact artifact = compile_with(nvrtc, source, arguments);
  if (!makes_cubin(options)) return artifact;
  if (artifact.cubin.empty()) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("NVRTC made no cubin with the options {}", fmt::join(arguments, " ")));
  }
  if (const auto resources = parse_resources(artifact.log, artifact.entry)) {
    artifact.resources = *resources;
  } else {
    log(LogLevel::warn, "no report of ptxas on kernel \"{}\": registers and shared memory are unknown",
        artifact.entry);
  }
  return artifact;
}

TMAJIT_END
