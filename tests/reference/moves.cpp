#include "reference/moves.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <vector>

namespace reference {

using tmajit::max_view_rank;
using tmajit::TensorView;

namespace {

using Index = std::array<std::uint64_t, max_view_rank>;

/// Calls visit(index) for every index of the view, row-major.
template <typename Visit>
void for_each_index(const TensorView& view, const Visit& visit) {
  for (std::uint32_t d = 0; d < view.rank; ++d) {
    if (view.shape[d] == 0) return;
  }
  Index index{};
  for (;;) {
    visit(index);
    std::uint32_t d = view.rank;
    while (d > 0 && ++index[d - 1] == view.shape[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

std::byte* at(const HostView& tensor, const Index& index) {
  std::int64_t elements = 0;
  for (std::uint32_t d = 0; d < tensor.view.rank; ++d) {
    elements += static_cast<std::int64_t>(index[d]) * tensor.view.strides[d];
  }
  return tensor.first + elements * static_cast<std::int64_t>(size_of(tensor.view.type));
}

/// The index in a tensor that is repeated to where `index` is from.
Index repeated(const TensorView& from, const TensorView& to, const Index& index) {
  Index result{};
  const std::uint32_t missing = to.rank - from.rank;
  for (std::uint32_t d = 0; d < from.rank; ++d) result[d] = from.shape[d] == 1 ? 0 : index[d + missing];
  return result;
}

void require(bool fits, const char* what) {
  if (!fits) throw std::invalid_argument(what);
}

void require_repeatable(const TensorView& from, const TensorView& to) {
  require(from.rank <= to.rank, "reference: more dimensions than the destination has");
  const std::uint32_t missing = to.rank - from.rank;
  for (std::uint32_t d = 0; d < from.rank; ++d) {
    require(from.shape[d] == 1 || from.shape[d] == to.shape[d + missing], "reference: extents disagree");
  }
}

void copy_element(const HostView& to, const Index& index, const HostView& from, const Index& from_index) {
  std::memcpy(at(to, index), at(from, from_index), size_of(to.view.type));
}

/// The indices that Python's range(*slice.indices(extent)) would give, walked one by one.
std::vector<std::uint64_t> selected(const tmajit::Slice& slice, std::uint64_t extent) {
  const auto n = static_cast<std::int64_t>(extent);
  const bool up = slice.step > 0;
  const auto from_end = [n](std::int64_t position) { return position < 0 ? position + n : position; };
  std::int64_t i = slice.start ? from_end(*slice.start) : up ? 0 : n - 1;
  i = up ? std::max<std::int64_t>(i, 0) : std::min(i, n - 1);
  const std::int64_t stop = slice.stop ? from_end(*slice.stop) : up ? n : -1;
  std::vector<std::uint64_t> result;
  for (; up ? i < std::min(stop, n) : i > std::max<std::int64_t>(stop, -1); i += slice.step) {
    result.push_back(static_cast<std::uint64_t>(i));
  }
  return result;
}

}  // namespace

void copy(const HostView& to, const HostView& from) {
  require_repeatable(from.view, to.view);
  for_each_index(to.view, [&](const Index& index) {
    copy_element(to, index, from, repeated(from.view, to.view, index));
  });
}

void permute(const HostView& to, const HostView& from, std::span<const std::uint32_t> axes) {
  require(axes.size() == to.view.rank && from.view.rank == to.view.rank, "reference: ranks disagree");
  for_each_index(to.view, [&](const Index& index) {
    Index source{};
    for (std::uint32_t d = 0; d < to.view.rank; ++d) source[axes[d]] = index[d];
    copy_element(to, index, from, source);
  });
}

void flip(const HostView& to, const HostView& from, std::uint32_t axis) {
  for_each_index(to.view, [&](const Index& index) {
    Index source = index;
    source[axis] = from.view.shape[axis] - 1 - index[axis];
    copy_element(to, index, from, source);
  });
}

void slice(const HostView& to, const HostView& from, std::span<const tmajit::Slice> slices) {
  require(from.view.rank == to.view.rank, "reference: ranks disagree");
  std::vector<std::vector<std::uint64_t>> chosen;
  for (std::uint32_t d = 0; d < to.view.rank; ++d) {
    chosen.push_back(selected(d < slices.size() ? slices[d] : tmajit::Slice{}, from.view.shape[d]));
    require(chosen[d].size() == to.view.shape[d], "reference: the slice has another shape");
  }
  for_each_index(to.view, [&](const Index& index) {
    Index source{};
    for (std::uint32_t d = 0; d < to.view.rank; ++d) source[d] = chosen[d][index[d]];
    copy_element(to, index, from, source);
  });
}

void pad(const HostView& to, const HostView& from, std::span<const std::int64_t> before, double value) {
  for_each_index(to.view, [&](const Index& index) {
    Index source{};
    bool inside = true;
    for (std::uint32_t d = 0; d < to.view.rank; ++d) {
      const std::int64_t i = static_cast<std::int64_t>(index[d]) - before[d];
      inside = inside && i >= 0 && i < static_cast<std::int64_t>(from.view.shape[d]);
      source[d] = static_cast<std::uint64_t>(i);
    }
    if (inside)
      copy_element(to, index, from, source);
    else
      encode(to.view.type, value, at(to, index));
  });
}

void concat(const HostView& to, std::span<const HostView> from, std::uint32_t axis) {
  for_each_index(to.view, [&](const Index& index) {
    Index inner = index;
    std::size_t part = 0;
    while (inner[axis] >= from[part].view.shape[axis]) inner[axis] -= from[part++].view.shape[axis];
    Index source{};
    for (std::uint32_t d = 0; d < to.view.rank; ++d) {
      source[d] = d != axis && from[part].view.shape[d] == 1 ? 0 : inner[d];
    }
    copy_element(to, index, from[part], source);
  });
}

void split(std::span<const HostView> to, const HostView& from, std::uint32_t axis) {
  std::uint64_t first = 0;
  for (const HostView& part : to) {
    for_each_index(part.view, [&](const Index& index) {
      Index source{};
      for (std::uint32_t d = 0; d < part.view.rank; ++d) {
        source[d] = d == axis ? first + index[d] : from.view.shape[d] == 1 ? 0 : index[d];
      }
      copy_element(part, index, from, source);
    });
    first += part.view.shape[axis];
  }
}

void cast(const HostView& to, const HostView& from) {
  // A cast to the same type keeps every bit, infinities of fp8 too; but tf32 is rounded.
  const tmajit::ElementType type = to.view.type;
  if (type == from.view.type && type != tmajit::ElementType::tf32 && type != tmajit::ElementType::tf32_ftz)
    return copy(to, from);
  map(to, {&from, 1}, [](std::span<const Scalar> x, std::span<const std::uint64_t>) { return x[0]; });
}

void map(const HostView& to, std::span<const HostView> from, const MoveFunction& f) {
  for (const HostView& source : from) require_repeatable(source.view, to.view);
  std::vector<Scalar> x(from.size());
  for_each_index(to.view, [&](const Index& index) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      x[i] = decode(from[i].view.type, at(from[i], repeated(from[i].view, to.view, index)));
    }
    encode(to.view.type, f(x, std::span(index).first(to.view.rank)), at(to, index));
  });
}

}  // namespace reference
