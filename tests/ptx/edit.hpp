#pragma once

/// Small changes of a kernel's PTX, to make the mistakes that tests look for.
#include <cstddef>
#include <functional>
#include <string>

namespace tests {

/// Changes a kernel's PTX.
using Edit = std::function<std::string(const std::string&)>;

/// Every line that contains `needle`, or only the nth of them, as `change` makes it.
Edit lines(const std::string& needle, const std::function<std::string(const std::string&)>& change,
           int nth = -1);
Edit drop(const std::string& needle, int nth = -1);
/// The last such line is left out.
Edit drop_last(const std::string& needle);
/// Every such line comes twice.
Edit twice(const std::string& needle, int nth = -1);
/// `from`, where such a line has it, becomes `to`.
Edit swap(const std::string& needle, const std::string& from, const std::string& to, int nth = -1);
/// The `which`-th 32-bit register of such a line is replaced by one that holds `amount` more.
Edit adjust(const std::string& needle, std::size_t which, const std::string& amount, int nth = -1);
/// Like adjust(), for 64-bit registers.
Edit adjust_wide(const std::string& needle, std::size_t which, const std::string& amount, int nth = -1);
/// `text` on a line of its own, before such lines.
Edit before(const std::string& needle, const std::string& text, int nth = -1);
/// `text` at the very beginning or anywhere: the first `from` in the module becomes `to`.
Edit replace(const std::string& from, const std::string& to);

}  // namespace tests
