#pragma once

#include <tmajit/codegen.hpp>
#include <tmajit/compile.hpp>
#include <tmajit/lint.hpp>

#include <functional>
#include <string>
#include <vector>

namespace tests {

/// A kernel's PTX and what is known of its tensor maps.
struct Module {
  std::string ptx;
  tmajit::LintOptions options;
};

/// The kernel of `spec` for these views (inputs, then the output).
Module module_of(const tmajit::KernelSpec& spec, const std::vector<tmajit::TensorView>& views);
/// A kernel of examples/kernels.
Module example(const std::string& file, const std::string& entry, std::vector<tmajit::MapFacts> maps = {});
/// out = a + b in libcu++'s words; data/pipeline.ptx, of data/pipeline.cu by nvcc 13.0 -ptx -arch=sm_90a.
Module pipeline();
/// A module of one entry, `k`, with these statements, for sm_90a.
std::string entry(const std::string& body, const std::string& parameters = {},
                  const std::string& before = {});

std::vector<std::string> rules(const tmajit::LintResult& result);
bool has_rule(const tmajit::LintResult& result, const std::string& rule);

/// Changes a kernel's PTX.
using Edit = std::function<std::string(const std::string&)>;

/// Every line that contains `needle`, or only the nth of them, as `change` makes it.
Edit lines(const std::string& needle, const std::function<std::string(const std::string&)>& change,
           int nth = -1);
Edit drop(const std::string& needle, int nth = -1);
/// The last such line is left out.
Edit drop_last(const std::string& needle);
/// `from`, where such a line has it, becomes `to`.
Edit swap(const std::string& needle, const std::string& from, const std::string& to, int nth = -1);
/// The `which`-th 32-bit register of such a line is replaced by one that holds `amount` more.
Edit adjust(const std::string& needle, std::size_t which, const std::string& amount, int nth = -1);
/// The same of its 64-bit registers.
Edit adjust_wide(const std::string& needle, std::size_t which, const std::string& amount, int nth = -1);
/// `text` on a line of its own, before such lines.
Edit before(const std::string& needle, const std::string& text, int nth = -1);
/// `text` at the very beginning or anywhere: the first `from` in the module becomes `to`.
Edit replace(const std::string& from, const std::string& to);

}  // namespace tests
