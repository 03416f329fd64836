#pragma once

#include <tmajit/compile.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

TMAJIT_BEGIN

/// Gathers the headers that a text can include, whatever its preprocessor conditions say. An #include of a
/// macro is read by every definition of that macro that was met: `#include CUDA_STD_HEADER(tuple)`; macros in
/// its expansion are expanded, too: `<ROOT/detail/policy.h>`.
class HeaderSearch {
 public:
  /// Throws Error{io} for a folder that is none.
  HeaderSearch(const SourceHeaders& given, const std::vector<std::filesystem::path>& folders);

  /// Adds what `text` includes, and what that includes. Throws Error{invalid_argument} for two files of one
  /// name, Error{io}.
  void add_includes_of(std::string_view text) { scan(text, {}); }
  /// By name; each once.
  [[nodiscard]] SourceHeaders headers() const;

 private:
  struct Found {
    std::filesystem::path path;  ///< empty: no file
    std::string text;
  };
  struct Macro {
    std::string parameter;  ///< empty: it has none
    std::string body;       ///< "<cuda/std/header>", or a part of such a name: "thrust/system/cuda"
  };

  void scan(std::string_view text, const std::filesystem::path& folder);
  void define(std::string_view rest);
  void include(std::string_view rest, const std::filesystem::path& folder);
  void include_name(std::string_view rest, const std::filesystem::path& folder);
  /// Every text that `text` can stand for, its macros replaced. Ends early where there are very many.
  [[nodiscard]] std::vector<std::string> expanded(std::string_view text, std::uint32_t depth) const;
  void add(const std::string& name, bool quoted, const std::filesystem::path& folder);
  [[nodiscard]] std::filesystem::path find(const std::string& name, bool quoted,
                                           const std::filesystem::path& folder) const;

  std::map<std::string, std::string, std::less<>> given_;
  std::vector<std::filesystem::path> folders_;
  std::map<std::string, Found, std::less<>> found_;
  std::multimap<std::string, Macro, std::less<>> macros_;
};

TMAJIT_END
