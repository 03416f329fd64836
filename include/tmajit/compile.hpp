#pragma once

#include <tmajit/version.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

TMAJIT_BEGIN

/// Headers: the name that an #include gives, and the text.
using SourceHeaders = std::vector<std::pair<std::string, std::string>>;

/// CUDA C++ that makes one kernel; see codegen.hpp and own_kernel.hpp.
struct Source {
  std::string text;
  /// The kernel's name, unmangled ("tmajit_copy"); or a C++ expression that names the kernel and may use all
  /// declarations of `text` ("scale<3, float>"); or empty, if `text` makes a single kernel.
  std::string entry;
  std::string expression;  ///< the user's expression, if `text` holds one under `#line 1 "expression"`
  /// Every header that `text` can include, so that compiling reads no file. Null if there are none.
  std::shared_ptr<const SourceHeaders> headers = {};
  /// The user's epilogue of a reduction, if `text` holds one under `#line 1 "epilogue"`.
  std::string epilogue = {};
  /// The user's expressions of a rowwise kernel; `text` holds each under `#line 1` and its step's name.
  std::vector<std::string> steps = {};
};

struct CompileOptions {
  std::string arch = "sm_90a";  ///< "compute_90a": the same PTX, no cubin; enough for the simulated device
  bool line_info = true;        ///< -lineinfo: profilers and the simulator name source lines
  /// Further NVRTC options, in order. Those that read or write files (-I, --pre-include, -time …) or make no
  /// cubin (-dc, -dlto …) are refused: a kernel follows from its source and options alone.
  std::vector<std::string> extra{};
};

/// The resources of a kernel, as ptxas reports them; zeros if ptxas did not run.
struct Resources {
  std::uint32_t registers = 0;            ///< per thread
  std::uint32_t spill_store_bytes = 0;    ///< per thread
  std::uint32_t spill_load_bytes = 0;     ///< per thread
  std::uint32_t stack_bytes = 0;          ///< per thread
  std::uint32_t static_shared_bytes = 0;  ///< per CTA; a launch adds dynamic shared memory
  std::uint32_t barriers = 0;             ///< hardware barriers (bar.sync) per CTA
};

/// The operation that a kernel was first made for, in words. It is no part of the kernel's key, because
/// kernels often serve further shapes. Empty for the user's own kernels.
struct MadeFor {
  std::string operation;  ///< "copy", also for permute, slice, flip …
  std::string types;      ///< the destination's and the sources': "f32 <- bf16"; one name if all are equal
  std::string shape;      ///< "1024x512"; dimensions that one index can walk are merged
  friend bool operator==(const MadeFor&, const MadeFor&) = default;
};

/// One of the inputs from which a kernel's key is computed, in words.
struct KeyField {
  std::string name;   ///< "arch"
  std::string value;  ///< "sm_90a"; a long text is given by its length and the start of its SHA-256
  friend bool operator==(const KeyField&, const KeyField&) = default;
};

/// A compiled kernel: everything from its source to its machine code.
struct Artifact {
  std::string entry;  ///< the kernel's name in PTX and cubin
  std::string source;
  std::string ptx;
  std::vector<std::byte> cubin;  ///< empty if it was compiled for a virtual architecture
  std::string log;               ///< NVRTC's warnings and ptxas's report
  Resources resources;
  MadeFor made_for = {};
  std::vector<KeyField> key_fields = {};  ///< the inputs of its key, as key_fields() gives them; may be empty
};

/// The NVRTC that this process uses.
struct CompilerIdentity {
  int major = 0;
  int minor = 0;
  std::string build;       ///< the library's build id, which distinguishes builds of one version
  std::string path;        ///< path that it was loaded from; not part of the identity
  std::string stamp = {};  ///< size and modification time of that file; not part of the identity
};

/// Loads NVRTC on first use. Throws Error{unavailable} that names the places searched and what to install.
[[nodiscard]] TMAJIT_API const CompilerIdentity& compiler();

/// The folders of CUDA's own headers (cuda_fp16.h, cuda/barrier), for OwnKernel::include_folders: those of
/// the toolkit or the Python wheels that compiler() belongs to, else of $CUDA_HOME, $CUDA_PATH and
/// /usr/local/cuda. Throws Error{unavailable} that names the places searched and what to install.
[[nodiscard]] TMAJIT_API std::vector<std::filesystem::path> cuda_include_folders();

/// PTX of `source` and, for a real architecture, its cubin, from one NVRTC call. Thread-safe.
/// Throws CompileError if NVRTC refuses the source, Error{unavailable} without NVRTC, Error{invalid_argument}
/// for options that tmajit refuses.
[[nodiscard]] TMAJIT_API Artifact compile(const Source& source, const CompileOptions& options = {});

TMAJIT_END
