#include "operations/shared/make.hpp"

TMAJIT_BEGIN

Operation operation::slice(const Tensor& destination, const Tensor& source, List<Slice> slices) {
  const Tensor part = sliced(source, slices, the_source);
  return one_move({destination, {broadcast(part, shape_of(destination), "the sliced source")}}, {&source, 1});
}

TMAJIT_END
