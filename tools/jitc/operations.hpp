#pragma once

#include "options.hpp"

#include <tmajit/kernel_plan.hpp>
#include <tmajit/operations.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jitc {

using Shape = std::vector<std::uint64_t>;

/// "copy, permute, slice …", and the families that are no operation: "bulk, snapshot, rows …".
[[nodiscard]] std::string operation_names();
[[nodiscard]] std::string family_names();

/// Every word that OPERATION may be.
[[nodiscard]] std::vector<std::string_view> operation_words();

/// The request that OPERATION and its options make.
struct Request {
  const tmajit::OperationInfo* operation = nullptr;  ///< never null after read_request()
  const tmajit::FamilyInfo* family = nullptr;        ///< only this family's kernels are requested; null: any
  [[nodiscard]] std::string_view family_name() const {
    return family == nullptr ? std::string_view() : family->name;
  }
  /// Whether results are combined with the outputs' previous content.
  [[nodiscard]] bool combines() const {
    return operation->reads_destination || (family != nullptr && family->does("reduce_into"));
  }
  /// Whether the operation moves views of its inputs: --slice, --flip, --axes, --broadcast and --pad.
  [[nodiscard]] bool moves_views() const {
    return operation->is_view || operation->name == "copy" || operation->name == "pad";
  }
  /// The operation's argument of that option; null if it has none, or if the option asks for a view.
  [[nodiscard]] const tmajit::Argument* argument(std::string_view option) const;
  /// Whether an option asks for a view of the inputs.
  [[nodiscard]] bool asks_for_view(std::string_view option) const;
};
/// Throws Error{invalid_argument} for a word that is neither an operation nor a family, and for options that
/// do not go together.
[[nodiscard]] Request read_request(const ProblemOptions& options);
/// Throws Error{invalid_argument} for options that the operation does not take, and if one that it needs is
/// missing.
void check_arguments(const Request& request, const ProblemOptions& options);

}  // namespace jitc
