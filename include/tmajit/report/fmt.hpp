#pragma once

#include <tmajit/report/plan.hpp>

#include <string_view>

#include <fmt/format.h>

TMAJIT_BEGIN

/// Formats a value as the text of describe().
template <class Value>
struct DescribedFormatter : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const Value& value, Context& context) const {
    return fmt::formatter<std::string_view>::format(describe(value), context);
  }
};

TMAJIT_END

template <>
struct fmt::formatter<tmajit::KernelPlan> : tmajit::DescribedFormatter<tmajit::KernelPlan> {};
template <>
struct fmt::formatter<tmajit::TensorView> : tmajit::DescribedFormatter<tmajit::TensorView> {};
template <>
struct fmt::formatter<tmajit::Plan> : tmajit::DescribedFormatter<tmajit::Plan> {};
