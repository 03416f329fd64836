#include "operations/shared/make.hpp"

TMAJIT_BEGIN

Operation operation::cast(const Tensor& destination, const Tensor& source) {
  // Bits survive a copy, which a NaN need not survive on its way through f32. A cast to tf32 rounds.
  const ElementType type = destination.view.type;
  const bool rounds = type == ElementType::tf32 || type == ElementType::tf32_ftz;
  if (type == source.view.type && !rounds) return copy(destination, source);
  return map(destination, "x", {source});
}

TMAJIT_END
