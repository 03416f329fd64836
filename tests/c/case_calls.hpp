#pragma once

#include "operations/cases.hpp"

#include <tmajit/c.h>

#include <memory>
#include <span>

namespace tests {

/// The functions of one operation, with the arguments of a case.
class CaseCall {
 public:
  virtual ~CaseCall() = default;
  [[nodiscard]] virtual tmajit_status run(tmajit_runtime* runtime,
                                          std::span<const tmajit_tensor> destinations,
                                          std::span<const tmajit_tensor> sources,
                                          tmajit_error** error) const = 0;
  [[nodiscard]] virtual tmajit_status plan(tmajit_runtime* runtime,
                                           std::span<const tmajit_tensor> destinations,
                                           std::span<const tmajit_tensor> sources, tmajit_plan** plan,
                                           tmajit_error** error) const = 0;
  [[nodiscard]] virtual tmajit_status operation(std::span<const tmajit_tensor> destinations,
                                                std::span<const tmajit_tensor> sources,
                                                tmajit_operation** operation, tmajit_error** error) const = 0;
  /// Fills `results`, whose length is the capacity that the function is told.
  [[nodiscard]] virtual tmajit_status results(std::span<const tmajit_tensor> sources,
                                              std::span<tmajit_tensor> results,
                                              tmajit_error** error) const = 0;
};

/// The call of a case. It keeps a reference to `test_case`. Handwritten code fills each operation's struct,
/// so that a mistake in the generated table of members makes a test fail.
[[nodiscard]] std::unique_ptr<CaseCall> call_of(const reference::TestCase& test_case);

}  // namespace tests
