#pragma once

#include <tmajit/operations/reduce.hpp>

#include <string_view>

TMAJIT_BEGIN

/// The struct of templates/kernels/reducers.cuh that reduces by `op`: "Sum".
[[nodiscard]] std::string_view reducer_name(ReductionOp op) noexcept;

TMAJIT_END
