#include "compile/diagnostics.hpp"
#include "compile/expression.hpp"
#include "compile/nvrtc.hpp"
#include "compile/options.hpp"
#include "spec/log.hpp"

#include <tmajit/compile.hpp>
#include <tmajit/error.hpp>

#include <algorithm>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN

namespace {

/// An NVRTC program and what can be asked of it.
class Program {
 public:
  Program(const NvrtcApi& api, const Source& source) : api_(api) {
    const auto name = source.entry + ".cu";
    require(api_.create_program(&program_, source.text.c_str(), name.c_str(), 0, nullptr, nullptr),
            "nvrtcCreateProgram");
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
  /// NVRTC counts the terminating zero, and joins the log of several parts with their zeros in between.
  [[nodiscard]] std::string text(decltype(NvrtcApi::ptx_size) size, decltype(NvrtcApi::ptx) read,
                                 const char* call) const {
    auto result = get<std::string>(size, read, call);
    result.erase(std::find_if(result.rbegin(), result.rend(), [](char c) { return c != '\0'; }).base(),
                 result.end());
    std::replace(result.begin(), result.end(), '\0', '\n');
    return result;
  }

  NvrtcUse use_;  // first, so that it is given back last
  const NvrtcApi& api_;
  nvrtcProgram program_ = nullptr;
};

/// Turns a refusal into the exception that says whose mistake it is.
[[noreturn]] void refuse(nvrtcResult result, const Nvrtc& nvrtc, const Program& program, const Source& source,
                         const std::vector<std::string>& options) {
  const auto& [major, minor, build, path] = nvrtc.identity();
  const auto log = program.log();
  switch (result) {
    case NVRTC_ERROR_COMPILATION: {
      throw CompileError(explain(log, program.ptx(), source.entry, source.expression), log);
    }
    case NVRTC_ERROR_INVALID_OPTION:
      throw Error(ErrorCode::invalid_argument, fmt::format("NVRTC {}.{} does not take the options {}: {}",
                                                           major, minor, fmt::join(options, " "), log));
    case NVRTC_ERROR_BUILTIN_OPERATION_FAILURE:
      throw Error(ErrorCode::unavailable,
                  fmt::format("NVRTC {}.{} from {} is not whole (libnvrtc-builtins.so.{}.{} belongs beside "
                              "it): {}\nTo get it: {}",
                              major, minor, path, major, minor, log, nvrtc_remedy()));
    default: program.require(result, "nvrtcCompileProgram");
  }
  throw Error(ErrorCode::internal, "nvrtcCompileProgram failed without a result");
}

/// Names of the kernels in `ptx`.
std::vector<std::string_view> entries(std::string_view ptx) {
  constexpr std::string_view directive = ".entry ";
  std::vector<std::string_view> names;
  for (auto at = ptx.find(directive); at != ptx.npos; at = ptx.find(directive, at)) {
    at += directive.size();
    names.push_back(ptx.substr(at, ptx.find_first_of("( \t\r\n", at) - at));
  }
  return names;
}

void require_entry(const Artifact& artifact) {
  const auto names = entries(artifact.ptx);
  if (std::find(names.begin(), names.end(), artifact.entry) != names.end()) return;
  throw CompileError(
      fmt::format("the source has no kernel \"{}\"; {}. Declare it extern \"C\" __global__", artifact.entry,
                  names.empty() ? "it has none at all" : fmt::format("it has {}", fmt::join(names, ", "))),
      artifact.log);
}

/// What NVRTC makes of `source`.
Artifact run(const Nvrtc& nvrtc, const Source& source, const std::vector<std::string>& options) {
  Program program(nvrtc.api(), source);
  if (const auto result = program.compile(options); result != NVRTC_SUCCESS) {
    refuse(result, nvrtc, program, source, options);
  }
  return {source.entry, source.text, program.ptx(), program.cubin(), program.log(), {}};
}

}  // namespace

// NVRTC takes calls from several threads at once, each with its own program; since 12.3 it also compiles
// them in parallel (13.0, two threads on two cores: twice the kernels in the same time), so no lock is
// held but the one that a fork waits for.
Artifact compile(const Source& source, const CompileOptions& options) {
  if (!source.expression.empty()) require_expression(source.expression);
  if (source.text.find('\0') != std::string::npos) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the source of kernel \"{}\" holds a zero byte", source.entry));
  }
  const Nvrtc& nvrtc = Nvrtc::instance();
  const auto arguments = nvrtc_options(options, nvrtc.identity());
  Artifact artifact = run(nvrtc, source, arguments);
  require_entry(artifact);
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
