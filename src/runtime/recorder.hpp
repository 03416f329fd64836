#pragma once

#include "runtime/kernel_origin.hpp"

#include <tmajit/kernel_recipe.hpp>

#include <atomic>
#include <filesystem>

TMAJIT_BEGIN

/// Appends a line to a manifest for each kernel that was compiled. Any number of processes may append to one
/// file. A file that cannot be written never fails a request. Thread-safe.
class Recorder {
 public:
  /// An empty path records nothing.
  explicit Recorder(std::filesystem::path file) : file_(std::move(file)) {}
  void add(const KernelRequest& request, const Source& source, const CompileOptions& options,
           const MadeFor& made_for) const;

 private:
  std::filesystem::path file_;
  mutable std::atomic<bool> warned_ = false;  ///< only the first failure is a warning
};

TMAJIT_END
