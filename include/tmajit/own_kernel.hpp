#pragma once

#include <tmajit/compile.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

TMAJIT_BEGIN

/// A constant that a kernel's text can use, declared in the global namespace: `constexpr int stages = 4;`.
struct KernelConstant {
  using Value = std::variant<bool, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t, float, double>;
  std::string name;
  Value value;

  /// Parses a C++ literal, whose spelling gives the type: "true", "4" and "-4" (int), "4u", "4ll", "4ull",
  /// "0.5" (double), "0.5f". A number without a suffix that no int holds is a long long. Throws
  /// Error{invalid_argument} for anything else, and for a name that is no identifier.
  [[nodiscard]] TMAJIT_API static KernelConstant parse(std::string_view name, std::string_view literal);
  /// The value as a literal that parse() accepts.
  [[nodiscard]] TMAJIT_API std::string literal() const;
  friend bool operator==(const KernelConstant&, const KernelConstant&) = default;
};

/// A kernel of the user's own: its text, constants and headers. Runtime::kernel(source(kernel), shared_bytes)
/// makes it; own_launch.hpp describes its launches.
struct OwnKernel {
  std::string text;
  /// The text's name in errors, profilers and reports of the simulator: "kernels/scale.cu".
  std::string file = "kernel.cu";
  /// A kernel's name, whether extern "C" or not; or a C++ expression that names the kernel and may use all
  /// declarations of the text, such as "scale<stages, float>"; or empty, if the text makes a single kernel.
  std::string entry = {};
  /// Further files, by the name that an #include gives.
  SourceHeaders headers = {};
  /// Further folders, searched for headers in their order. A usual order: the user's own folders,
  /// cuda_include_folders(), CUTLASS's.
  std::vector<std::filesystem::path> include_folders = {};
  std::vector<KernelConstant> constants = {};

  /// The kernel with further constants.
  [[nodiscard]] TMAJIT_API OwnKernel with(const std::vector<KernelConstant>& further) const;
};

/// The kernel's source: the constants, and the text under `#line 1 "<file>"`, with every header that it can
/// include.
///
/// A header is searched for in `headers`, then among the device headers (docs/device.md,
/// "tmajit/mbarrier.cuh"), then, if the #include has quotes, in the including file's folder, then in
/// `include_folders`, then among a few headers of the C library that NVRTC lacks (stdint.h, stdlib.h …).
/// Headers that preprocessor conditions exclude are included as well: the source holds every text that a
/// compiler could read. The source alone then determines the kernel, and a changed header changes the
/// kernel's key. If a header is missing, the compiler reports the #include when it reads that line. Each call
/// reads the files again, so keep the Kernel.
///
/// Throws Error{invalid_argument} for a constant that is named twice or is no finite number, and for two
/// files that are included by one name; Error{io} for a path that is no folder, or a file that cannot be
/// read.
[[nodiscard]] TMAJIT_API Source source(const OwnKernel& kernel);

TMAJIT_END
