#include "operations/cases.hpp"

namespace reference::copy_operation {

using namespace tmajit;

namespace {

void random(CaseDraw& draw) {
  const Shape shape = draw.shape();
  draw.destination(draw.view(draw.type, shape, false));
  const ElementType from = draw.same_size_type();
  if (!one_in(draw.kernel_random, 6)) return draw.source(draw.view(from, draw.repeatable(shape), true));
  // Both tensors in one buffer, where the elements of one alternate with those of the other.
  draw.made.buffers.clear();
  BufferView& to = draw.made.destinations.front();
  for (std::uint32_t d = 0; d < to.view.rank; ++d) to.view.strides[d] *= 2;
  to = draw.place(to.view);
  BufferView source = to;
  source.view.type = from;
  source.offset += size_of(draw.type);
  draw.made.buffers.front() += size_of(draw.type);
  draw.made.sources = {source};
}

void measured(bench::CaseBuilder& list) {
  for (const ElementType type : {ElementType::f32, ElementType::bf16, ElementType::u8, ElementType::f64}) {
    bench::Case& added =
        list.add("copy", "1 GiB", "copy", {{type, {list.count(bench::GiB / size_of(type))}}});
    added.min_ratio = 0.97;
    added.quick = type == ElementType::u8 || type == ElementType::f32;
  }
}

}  // namespace

const OperationCases cases{.random = random, .measured = measured};

}  // namespace reference::copy_operation
