#pragma once

#include "options.hpp"

#include <tmajit/kernel_plan.hpp>
#include <tmajit/operation.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitc {

using Shape = std::vector<std::uint64_t>;

/// What an operation is told besides its tensors.
struct Arguments {
  std::string expression = {};
  std::optional<tmajit::Padding> padding = {};
  std::vector<std::int64_t> pad_after = {};  ///< with `padding`: what is added behind each dimension
  tmajit::Stencil stencil = {};
  std::uint32_t axis = 0;
  Shape parts = {};  ///< extents along `axis` of split's outputs
  std::optional<tmajit::Reduction> reduction = {};
  std::optional<tmajit::CombineOp> combine = {};
  tmajit::Windows windows = {};
};

/// An option that an operation cannot do without.
struct Need {
  std::string ProblemOptions::*option = nullptr;
  std::string_view text = {};  ///< "--axes, the new order of the dimensions: --axes 0,2,1,3"
};

/// An operation as the command line knows it. Inputs come as --slice, --flip, --axes and --broadcast show
/// them.
struct OperationWord {
  std::string_view word;
  std::array<Need, 2> needs = {};
  std::uint32_t most_inputs = 1;
  bool computes = false;    ///< takes --expr
  bool neighbours = false;  ///< takes --boundary and --dims
  bool pads = false;        ///< takes --pad
  bool has_axis = false;    ///< takes --axis and --parts
  bool reduces = false;     ///< takes --op and --then, and --axes as what it reduces
  bool combines = false;    ///< takes --op; the output holds elements before
  bool batches = false;     ///< copies each input to an output, all in one launch; takes --axis and --parts
  bool windows =
      false;  ///< takes --filter, --window-step and --dilation, and --pad as what lies around an image
  bool convolves = false;  ///< has a filter as its second input: takes --outputs
  /// Shapes of the outputs.
  std::vector<Shape> (*shapes)(std::span<const tmajit::Tensor> inputs, const Arguments& arguments) = nullptr;
  tmajit::Operation (*make)(std::span<const tmajit::Tensor> outputs, std::span<const tmajit::Tensor> inputs,
                            const Arguments& arguments) = nullptr;
};

/// Every operation. A new one is a row.
[[nodiscard]] std::span<const OperationWord> operations();
/// The operation of that name, or null.
[[nodiscard]] const OperationWord* find_operation(std::string_view word);
/// "copy, permute, slice …", and the families that are no operation: "bulk, snapshot, rows …".
[[nodiscard]] std::string operation_names();
[[nodiscard]] std::string family_names();

/// Every word that OPERATION may be.
[[nodiscard]] std::vector<std::string_view> operation_words();

/// What OPERATION and the options that come with it mean together.
struct Request {
  const OperationWord* operation =
      nullptr;  ///< null: what the family does, with a tile of the caller's choice
  const tmajit::FamilyInfo* family = nullptr;  ///< whose kernels alone are asked for; null: any
  bool has_tile = false;                       ///< of the caller's choice
  [[nodiscard]] std::string_view family_name() const {
    return family == nullptr ? std::string_view() : family->name;
  }
};
/// Throws Error{invalid_argument} for a word that is neither an operation nor a family, and for options that
/// do not go together.
[[nodiscard]] Request read_request(const ProblemOptions& options);

}  // namespace jitc
