#pragma once

#include "ptx/edit.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>
#include <tmajit/lint.hpp>
#include <tmajit/own_kernel.hpp>

#include <string>
#include <vector>

namespace tests {

/// A kernel's PTX and the facts of its tensor maps.
struct Module {
  std::string ptx;
  tmajit::LintOptions options;
};

/// The kernel of a plan.
Module module_of(const tmajit::KernelPlan& plan);
/// A kernel of examples/; `file` is relative to that folder.
Module example(const std::string& file, const std::string& entry, std::vector<tmajit::MapFacts> maps = {},
               std::vector<tmajit::KernelConstant> constants = {});
/// out = a + b with libcu++: data/pipeline.ptx, made from data/pipeline.cu by nvcc 13.0 -ptx -arch=sm_90a.
Module pipeline();
/// The kernels of data/idioms.cu, or the mutant of each.
Module idioms(bool mutants);
/// A module of one entry, `k`, with these statements, for sm_90a.
std::string entry(const std::string& body, const std::string& parameters = {},
                  const std::string& before = {});

std::vector<std::string> rules(const tmajit::LintResult& result);

}  // namespace tests
