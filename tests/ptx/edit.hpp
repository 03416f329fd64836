#pragma once

/// Functions that introduce mistakes into a kernel's PTX, for tests that must find them.
#include <cstddef>
#include <functional>
#include <string>

namespace tests {

/// Changes a kernel's PTX.
using Edit = std::function<std::string(const std::string&)>;

/// Applies `change` to every line that contains `needle`, or only to the nth of them.
Edit lines(const std::string& needle, const std::function<std::string(const std::string&)>& change,
           int nth = -1);
/// Removes the lines that contain `needle`. Here and below, "these lines" are all of them, or the nth as in
/// lines().
Edit drop(const std::string& needle, int nth = -1);
/// Removes the last line that contains `needle`.
Edit drop_last(const std::string& needle);
/// Writes these lines twice.
Edit twice(const std::string& needle, int nth = -1);
/// Replaces `from` by `to` in these lines.
Edit swap(const std::string& needle, const std::string& from, const std::string& to, int nth = -1);
/// In these lines, replaces 32-bit register number `which` (from 0) by one whose value is larger by `amount`.
Edit adjust(const std::string& needle, std::size_t which, const std::string& amount, int nth = -1);
/// Like adjust(), for 64-bit registers.
Edit adjust_wide(const std::string& needle, std::size_t which, const std::string& amount, int nth = -1);
/// Inserts the line `text` before these lines.
Edit before(const std::string& needle, const std::string& text, int nth = -1);
/// Replaces the first occurrence of `from` in the module by `to`.
Edit replace(const std::string& from, const std::string& to);

}  // namespace tests
