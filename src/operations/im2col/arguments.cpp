#include "operations/entry.hpp"
#include "operations/shared/window_arguments.hpp"

TMAJIT_BEGIN
namespace {

constexpr auto im2col_arguments = window_arguments(true);

}  // namespace

const OperationEntry im2col_entry{
    .info = {.name = "im2col",
             .summary = "writes the pixels of each window of images side by side",
             .arguments = im2col_arguments,
             .moves_bits = true},
    .destinations = window_destinations,
    .make = [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
      return operation::im2col(to.front(), from.front(), windows_of(given));
    }};

TMAJIT_END
