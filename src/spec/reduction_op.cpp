#include "spec/enum_names.hpp"

#include <tmajit/operation.hpp>

TMAJIT_BEGIN
namespace {

constexpr EnumNames<ReductionOp, all_reduction_ops.size()> reduction_names{
    "reduction", {"sum", "mean", "min", "max", "any", "all", "arg_min", "arg_max"}};
constexpr EnumNames<ScanOp, all_scan_ops.size()> scan_names{"scan", {"sum", "product", "min", "max"}};

}  // namespace

std::string_view name(ReductionOp op) noexcept {
  return reduction_names.of(op);
}

template <>
ReductionOp parse<ReductionOp>(std::string_view text) {
  return reduction_names.parse(text);
}

std::string_view name(ScanOp op) noexcept {
  return scan_names.of(op);
}

template <>
ScanOp parse<ScanOp>(std::string_view text) {
  return scan_names.parse(text);
}

TMAJIT_END
