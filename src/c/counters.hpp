#pragma once

#include <tmajit/c/runtime.h>
#include <tmajit/counters.hpp>

#include <string>

TMAJIT_BEGIN
namespace c {

/// The record of a kernel, with pointers to texts of `record` and to `key`, its key in hexadecimal digits.
[[nodiscard]] tmajit_kernel_record to_c_record(const KernelRecord& record, const std::string& key);

}  // namespace c
TMAJIT_END
