#pragma once

#include <tmajit/version.hpp>

#include <filesystem>
#include <string>
#include <vector>

TMAJIT_BEGIN

struct ProcessResult {
  int status = 0;  ///< exit status, or 128 + the signal that ended the process
  std::string out;
  std::string err;
};

/// Runs a program without a shell and waits for it. Throws Error{io} if it cannot be started.
[[nodiscard]] ProcessResult run_process(const std::filesystem::path& program,
                                        const std::vector<std::string>& arguments);

TMAJIT_END
