#include "operations/entry.hpp"
#include "operations/shared/window_arguments.hpp"

TMAJIT_BEGIN
namespace {

constexpr auto convolution_arguments = window_arguments(false);

}  // namespace

const OperationEntry convolution_entry{
    .info = {.name = "convolution",
             .summary = "computes the forward convolution of images and a filter, in f32",
             .arguments = convolution_arguments,
             .min_sources = 2,
             .max_sources = 2},
    .destinations = window_destinations,
    .make = [](std::span<const Tensor> to, std::span<const Tensor> from, const Arguments& given) {
      return operation::convolution(to.front(), from[0], from[1], windows_of(given));
    }};

TMAJIT_END
