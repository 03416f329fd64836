#pragma once

#include "array_file.hpp"
#include "options.hpp"

#include <tmajit/error.hpp>
#include <tmajit/kernel_spec.hpp>
#include <tmajit/tensor_view.hpp>

#include <string>
#include <vector>

namespace jitc {

/// A kernel and the tensors it is for.
struct Problem {
  tmajit::KernelSpec spec;
  std::vector<tmajit::TensorView> views;  ///< on the device: the inputs, then the output
  tmajit::L2Promotion l2 = tmajit::L2Promotion::none;
  tmajit::OobFill oob = tmajit::OobFill::zero;
  std::vector<std::uint64_t> output_shape;  ///< as the file has it: bulk's views are one long row
  std::vector<InputArray> files;            ///< one an input, or none
  std::vector<std::string> notes;           ///< what was chosen for the user, in words

  [[nodiscard]] std::span<const tmajit::TensorView> inputs() const {
    return std::span(views).first(views.size() - 1);
  }
  [[nodiscard]] const tmajit::TensorView& output() const { return views.back(); }
};

/// Whether rows may be spaced out on the device so that TMA can take them.
enum class Padding { no, where_needed };

/// Makes sense of the options. The result may break rules: see violations().
/// Throws Error{invalid_argument} where the options contradict each other or the files, Error{io} for a bad
/// file.
[[nodiscard]] Problem make_problem(const KernelOptions& options, Padding padding);

/// Every rule that the problem breaks: the kernel's, its views', and of each tensor map what --l2 and --oob
/// add.
[[nodiscard]] std::vector<tmajit::Violation> violations(const Problem& problem);

/// Throws SpecError if there are any.
void require_legal(const Problem& problem);

/// As the validator calls them: "input" or "input 0", "output".
[[nodiscard]] std::string operand_name(const Problem& problem, std::size_t index);

}  // namespace jitc
