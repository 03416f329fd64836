#pragma once

#include <tmajit/codegen.hpp>

#include <string>

namespace tests {

/// A small kernel that evaluates `expression` of a float `x` and a coordinate g[0], as generated kernels do.
inline tmajit::Source expression_source(const std::string& expression) {
  return {.text =
              "template <class T>\n"
              "__device__ inline T value(T x, const unsigned long long (&g)[1]) { return\n"
              "#line 1 \"expression\"\n" +
              expression +
              "\n#line 5 \"tmajit_small.cu\"\n"
              "; }\n"
              "extern \"C\" __global__ void tmajit_small(float* out) {\n"
              "  const unsigned long long g[1] = {threadIdx.x};\n"
              "  out[g[0]] = value(out[g[0]], g);\n"
              "}\n",
          .entry = "tmajit_small",
          .expression = expression};
}

/// A kernel `k` written by a user, as custom_source() renders it.
inline tmajit::Source kernel_source(const std::string& body, const std::string& label = "kernel") {
  return {.text = "#line 1 \"" + label + "\"\n" + body, .entry = "k", .expression = {}};
}

/// The message of the exception that `call` throws; empty if it throws none.
template <class Exception, class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const Exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace tests
