#pragma once

#include "arrays.hpp"
#include "operations.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace jitc {

/// Memory of one array on a device: the whole input or output, without the views of InputViews.
struct Array {
  tmajit::TensorView view;
  MemorySpan memory;
  std::string name;  ///< "input 1"
};

/// Where the memory of each input and each output begins.
struct Addresses {
  std::vector<std::uint64_t> inputs;
  std::vector<std::uint64_t> outputs;
};

/// Views taken of every input before the operation proper, in this order.
struct InputViews {
  std::vector<tmajit::Slice> slices;
  std::vector<std::uint32_t> flips;
  std::vector<std::uint32_t> axes;
  std::optional<Shape> shape;  ///< shape to broadcast to
  [[nodiscard]] tmajit::Tensor of(tmajit::Tensor tensor) const;
};

/// An operation and the arrays it is for.
struct Problem {
  std::string word;       ///< as it was typed: "permute", "bulk"
  std::string arguments;  ///< as text: "--axes 0,2,1,3"
  Request request;
  std::string operation_name = {};  ///< operation applied to the views: "pad" for permute --pad
  tmajit::Arguments given;          ///< arguments of `operation_name`
  InputViews views;
  std::vector<Array> inputs;
  std::vector<Array> outputs;
  std::vector<tmajit::Tensor> numbers = {};  ///< of --number, which follow the inputs
  std::vector<InputArray> files;             ///< one per input, or none
  std::optional<InputArray> into = {};       ///< previous content of the output, if it comes from a file
  bool outputs_are_booleans = false;         ///< whether outputs are NumPy's booleans, as the files are
  std::vector<std::string> notes;            ///< choices that jitc made for the user, in words

  /// The operation, where the arrays' memory begins at these addresses.
  [[nodiscard]] tmajit::Operation operation(const Addresses& at) const;

  /// The NumPy type of an output's elements, for its file.
  [[nodiscard]] std::string_view descr(const Array& output) const;

  /// Returns addresses for plans that never run: multiples of 256, far apart, and after those of as many
  /// other arrays.
  [[nodiscard]] Addresses planning_addresses(std::size_t other_arrays = 0) const;
};

/// The use of a problem: planning only, or a run.
enum class Purpose {
  look,  ///< nothing runs: the default shape of inputs is the box's, or 4096x4096
  run,   ///< inputs need files or a shape; rows that tiles cannot take are padded on the device
};

/// Interprets the options. The first output of `before`, if not null, is the first input. Planning checks the
/// rules of kernels, which the result may break. Throws Error{invalid_argument} where the options contradict
/// each other or the files, Error{io} for a bad file.
[[nodiscard]] Problem make_problem(const ProblemOptions& options, Purpose purpose,
                                   const Problem* before = nullptr);

/// "permute --axes 0,2,1,3: f32 64x128x256x512 -> f32 64x256x128x512"
[[nodiscard]] std::string describe(const Problem& problem);

}  // namespace jitc
