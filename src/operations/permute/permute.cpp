#include "operations/shared/make.hpp"

TMAJIT_BEGIN

Operation operation::permute(const Tensor& destination, const Tensor& source, const Dims& axes) {
  const Tensor turned = permuted(source, axes, the_source);
  return one_move({destination, {broadcast(turned, shape_of(destination), "the permuted source")}},
                  {&source, 1});
}

TMAJIT_END
