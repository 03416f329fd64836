#pragma once

#include "ptx/edit.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>
#include <tmajit/lint.hpp>
#include <tmajit/own_kernel.hpp>

#include <string>
#include <vector>

namespace tests {

/// A kernel's PTX and the facts about its tensor maps.
struct Module {
  std::string ptx;
  tmajit::LintOptions options;
};

/// The module of a plan's kernel.
Module module_of(const tmajit::KernelPlan& plan);
/// The module of a kernel of examples/. `file` is relative to that folder.
Module example(const std::string& file, const std::string& entry, std::vector<tmajit::MapFacts> maps = {},
               std::vector<tmajit::KernelConstant> constants = {});
/// data/pipeline.ptx: out = a + b with libcu++, compiled from data/pipeline.cu by nvcc 13.0 -ptx
/// -arch=sm_90a.
Module pipeline();
/// The kernels of data/idioms.cu, or the mutant of each.
Module idioms(bool mutants);
/// A module for sm_90a with one entry `k`, whose statements are `body`.
std::string entry(const std::string& body, const std::string& parameters = {},
                  const std::string& before = {});

/// The rule of each finding, in order.
std::vector<std::string> rules(const tmajit::LintResult& result);

}  // namespace tests
