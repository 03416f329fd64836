#pragma once

/// Our own kernels, and ways to break them.
#include "sim/support.hpp"

namespace tests {

/// Every line that contains `needle`, or only the nth, as `change` makes it.
Edit lines(const std::string& needle, const std::function<std::string(const std::string&)>& change,
           int nth = -1);
Edit drop(const std::string& needle, int nth = -1);
/// Drops the last line that contains `needle`.
Edit drop_last(const std::string& needle);
Edit twice(const std::string& needle, int nth = -1);
Edit swap(const std::string& needle, const std::string& from, const std::string& to, int nth = -1);
/// Operand `which` of the instruction among its 32-bit registers: `amount` is added to it.
Edit adjust(const std::string& needle, std::size_t which, const std::string& amount, int nth = -1);

enum class Base { copy, swizzled, map, bulk };

/// Runs a kernel, edited, on two CTAs; `finished` is false if synchronize() threw.
std::shared_ptr<tmajit::SimDevice> run(Base kind, const Edit& edit, bool& finished, std::uint64_t seed,
                                       tmajit::SimOptions::Mode mode = tmajit::SimOptions::Mode::late);

}  // namespace tests
