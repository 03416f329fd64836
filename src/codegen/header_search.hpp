#pragma once

#include <tmajit/compile.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// Gathers the headers that a text can include under any preprocessor conditions. An #include that names a
/// macro, `#include CUDA_STD_HEADER(tuple)`, stands for every definition of that macro found so far. Macros
/// in the expansion, `<ROOT/detail/policy.h>`, are expanded as well.
class HeaderSearch {
 public:
  /// Throws Error{io} for a path that is not a folder.
  HeaderSearch(const SourceHeaders& given, const std::vector<std::filesystem::path>& folders);

  /// Adds the headers that `text` includes, directly or through others. Throws Error{invalid_argument} for
  /// two files of one name, and Error{io} for an unreadable file.
  void add_includes_of(std::string_view text) { scan(text, {}); }
  /// The gathered headers, ordered by name.
  [[nodiscard]] SourceHeaders headers() const;

 private:
  struct Found {
    std::filesystem::path path;  ///< empty: no file
    std::string text;
  };
  struct Macro {
    std::string parameter;  ///< empty: no parameter
    std::string body;       ///< "<cuda/std/header>", or a part of such a name: "thrust/system/cuda"
  };

  /// Follows every `#include` and `#define` of a text. `folder` is the folder of its file; empty if it has
  /// none.
  void scan(std::string_view text, const std::filesystem::path& folder);
  /// Stores a macro; `rest` is the text after `#define`.
  void define(std::string_view rest);
  /// Adds the headers that the text after `#include` names, directly or by a macro.
  void include(std::string_view rest, const std::filesystem::path& folder);
  /// Adds the header of a text that begins with `<name>` or `"name"`.
  void include_name(std::string_view rest, const std::filesystem::path& folder);
  /// Every expansion of `text` by the known definitions of its macros, up to a limit.
  [[nodiscard]] std::vector<std::string> expanded(std::string_view text, std::uint32_t depth) const;
  /// Adds one header and all that it includes. Missing headers are skipped.
  void add(const std::string& name, bool quoted, const std::filesystem::path& folder);
  [[nodiscard]] std::filesystem::path find(const std::string& name, bool quoted,
                                           const std::filesystem::path& folder) const;

  std::map<std::string, std::string, std::less<>> given_;  ///< the caller's headers and the device headers
  std::vector<std::filesystem::path> folders_;
  std::map<std::string, Found, std::less<>> found_;  ///< the gathered headers
  std::multimap<std::string, Macro, std::less<>> macros_;
};

TMAJIT_END
