#pragma once

#include "reference/engine_reduction.hpp"

#include <tmajit/element_type.hpp>

#include <string>
#include <vector>

namespace conformance {

/// A reduction without a tensor map: the instruction names the element type.
struct ReductionForm {
  reference::EngineReduction operation;
  tmajit::ElementType type;  ///< element type; for .b32 and .b64 the unsigned integer
};

/// All forms that PTX has, into global memory or into a peer's shared memory.
[[nodiscard]] std::vector<ReductionForm> reduction_forms(reference::ReductionTarget target);
/// Returns the form's name in the device headers: "add_noftz_f16", "and_b32".
[[nodiscard]] std::string name_of(const ReductionForm& form);
/// Returns the cases of a switch: "case 3: ptx::bulk_reduce_add_u32(…); break;" for each form, from `first`
/// on, where `call` is what comes before the form's name and `arguments` what follows it.
[[nodiscard]] std::string switch_of(const std::vector<ReductionForm>& forms, int first,
                                    const std::string& call, const std::string& arguments);

}  // namespace conformance
