#pragma once

/// Findings that a person has examined and allows: by options, and by comments in the PTX or its source.
#include "ptx/ast.hpp"

#include <tmajit/lint.hpp>

#include <map>

TMAJIT_BEGIN
namespace lint {

/// The rules that comments of a text allow, by line; lines count from 1.
using Comments = std::map<std::uint64_t, std::vector<std::string>>;
[[nodiscard]] Comments find_comments(std::string_view text);

class Allowed {
 public:
  /// Throws Error for an unknown rule in the options.
  Allowed(std::string_view text, const LintOptions& options);

  /// Finds the files whose paths the module names.
  void find_files(const ptx::Module& module);
  /// Moves allowed findings to LintResult::allowed, and adds a finding for each comment that allows an
  /// unknown rule.
  void apply(LintResult& result);

 private:
  [[nodiscard]] bool allows(const Finding& finding);
  /// Comments of the source file with this name; empty if it cannot be read.
  const Comments& comments_of(const std::string& file);

  const LintOptions& options_;
  Comments in_ptx_;
  std::map<std::string, std::string> paths_;  ///< path of each file name without folders
  std::map<std::string, Comments> in_sources_;
};

}  // namespace lint
TMAJIT_END
