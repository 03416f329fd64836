#include "operations/references.hpp"
#include "reference/scalar.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace reference {
namespace {

using tmajit::CastTranspose, tmajit::ElementType, tmajit::Tensor;

/// The greatest |x|; NaN if an element is NaN.
float greatest_magnitude(const Tensor& x) {
  float most = 0;
  for_each_index(x.view.rank, whole(x.view), [&](const Index& index) {
    const auto value = std::get<float>(decode(x.view.type, element_at(x, offset_of(x.view, index))));
    if (std::isnan(value) || std::isnan(most)) {
      most = std::numeric_limits<float>::quiet_NaN();
    } else {
      most = std::max(most, std::fabs(value));
    }
  });
  return most;
}

/// Computes element by element, in f32.
void compute_cast(const tmajit::Move& move, const Part& part) {
  const Tensor& to = move.destination;
  const Tensor& x = move.sources.front();
  const CastTranspose::Result result = std::get<CastTranspose>(move.body).result;
  if (result == CastTranspose::Result::amax) {
    const float most = greatest_magnitude(x);
    for_each_index(to.view.rank, part, [&](const Index& index) {
      encode(to.view.type, Scalar(most), element_at(to, offset_of(to.view, index)));
    });
    return;
  }
  float scale = 1;
  if (move.sources.size() > 1)
    scale = std::get<float>(decode(move.sources[1].view.type, element_at(move.sources[1], 0)));
  for_each_index(to.view.rank, part, [&](const Index& index) {
    Index from = index;
    if (result == CastTranspose::Result::transposed)
      std::swap(from.at(x.view.rank - 1), from.at(x.view.rank - 2));
    float value = std::get<float>(decode(x.view.type, element_at(x, offset_of(x.view, from)))) * scale;
    if (to.view.type == ElementType::i8) value = std::nearbyintf(value);
    encode(to.view.type, Scalar(value), element_at(to, offset_of(to.view, index)));
  });
}

constexpr OperationReference cast_transpose_reference{
    .compute = compute_cast,
    .makes_values = computes,
    .reads = [](const tmajit::Move& move, const Part& part) {
      const bool is_amax = std::get<CastTranspose>(move.body).result == CastTranspose::Result::amax;
      return is_amax ? element_count(move.sources.front().view)
                     : 2 * element_count(part, move.destination.view.rank);
    }};

}  // namespace

const OperationReference& reference_of(const CastTranspose& /*cast_transpose*/) noexcept {
  return cast_transpose_reference;
}

}  // namespace reference
