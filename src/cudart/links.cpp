// The driver's linker. It accepts one PTX text and returns it unchanged, for cuModuleLoadData().
#include "cudart/driver.hpp"
#include "cudart/handles.hpp"

#include <cstring>
#include <fstream>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <utility>

using namespace tmajit::cudart;

namespace {

struct Link {
  std::string ptx;
};
Handles<Link>& links() {
  static auto& all = *new Handles<Link>("link");
  return all;
}

/// Makes the logs that the program asks for empty: nothing is compiled.
void clear_logs(std::span<const CUjit_option> options, void** values) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    switch (options[i]) {
      case CU_JIT_INFO_LOG_BUFFER:
      case CU_JIT_ERROR_LOG_BUFFER: require_non_null(static_cast<char*>(values[i]), "a log") = '\0'; break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
      case CU_JIT_WALL_TIME: values[i] = nullptr; break;
      default: break;
    }
  }
}

void add(CUlinkState state, CUjitInputType type, std::string input) {
  Link& link = links().at(state);
  if (type != CU_JIT_INPUT_PTX) throw Failure(cudaErrorNotSupported, "only PTX can be linked");
  if (!link.ptx.empty())
    throw Failure(cudaErrorNotSupported, "PTX of several inputs cannot be linked into one module");
  link.ptx = std::move(input);
}

}  // namespace

extern "C" {

CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* state) {
  return driver_guarded(__func__, [&] {
    if (count != 0) {
      require_non_null(options, "the list of options");
      require_non_null(values, "the options' values");
    }
    clear_logs({options, count}, values);
    store(state, [] { return reinterpret_cast<CUlinkState>(&links().add(std::make_unique<Link>())); });
  });
}
CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, std::size_t bytes, const char*,
                       unsigned, CUjit_option*, void**) {
  return driver_guarded(__func__, [&] {
    const char* const text = &require_non_null(static_cast<const char*>(data), "the input");
    add(state, type, std::string(text, ::strnlen(text, bytes)));
  });
}
CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned, CUjit_option*,
                       void**) {
  return driver_guarded(__func__, [&] {
    std::ifstream file(&require_non_null(path, "the path"), std::ios::binary);
    if (!file) throw Failure(cudaErrorFileNotFound, std::string("\"") + path + "\" cannot be read");
    std::ostringstream text;
    text << file.rdbuf();
    add(state, type, text.str());
  });
}
CUresult cuLinkComplete(CUlinkState state, void** image, std::size_t* bytes) {
  return driver_guarded(__func__, [&] {
    std::string& ptx = links().at(state).ptx;
    require_non_null(image, "the result") = ptx.data();
    if (bytes != nullptr) *bytes = ptx.size() + 1;
  });
}
CUresult cuLinkDestroy(CUlinkState state) {
  return driver_guarded(__func__, [&] { links().remove(state); });
}

}  // extern "C"
