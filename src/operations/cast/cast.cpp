#include "operations/shared/make.hpp"

TMAJIT_BEGIN

Operation operation::cast(const Tensor& destination, const Tensor& source) {
  // A copy keeps every bit, while a map computes in f32 and may change a NaN. A cast to tf32 must round.
  const ElementType type = destination.view.type;
  const bool rounds = type == ElementType::tf32 || type == ElementType::tf32_ftz;
  if (type == source.view.type && !rounds) return copy(destination, source);
  return map(destination, "x", {source});
}

TMAJIT_END
