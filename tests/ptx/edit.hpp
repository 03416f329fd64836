#pragma once

/// Small changes of a kernel's PTX that make the mistakes which tests look for.
#include <cstddef>
#include <functional>
#include <string>

namespace tests {

/// Changes a kernel's PTX.
using Edit = std::function<std::string(const std::string&)>;

/// Applies `change` to every line that contains `needle`, or only to the nth of them.
Edit lines(const std::string& needle, const std::function<std::string(const std::string&)>& change,
           int nth = -1);
Edit drop(const std::string& needle, int nth = -1);
/// Removes the last line that contains `needle`.
Edit drop_last(const std::string& needle);
/// Repeats every such line.
Edit twice(const std::string& needle, int nth = -1);
/// Replaces `from` by `to` in such lines.
Edit swap(const std::string& needle, const std::string& from, const std::string& to, int nth = -1);
/// Replaces the `which`-th 32-bit register of such a line by one that holds `amount` more.
Edit adjust(const std::string& needle, std::size_t which, const std::string& amount, int nth = -1);
/// Like adjust(), for 64-bit registers.
Edit adjust_wide(const std::string& needle, std::size_t which, const std::string& amount, int nth = -1);
/// Inserts the line `text` before such lines.
Edit before(const std::string& needle, const std::string& text, int nth = -1);
/// Replaces the first `from` in the module by `to`.
Edit replace(const std::string& from, const std::string& to);

}  // namespace tests
