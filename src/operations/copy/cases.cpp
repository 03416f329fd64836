#include "operations/cases.hpp"

namespace reference::copy_operation {

using namespace tmajit;

namespace {

void draw_test_case(TestCaseDraw& draw) {
  const Shape shape = draw.shape();
  draw.add_destination(draw.view(draw.type, shape, false));
  const ElementType from = draw.same_size_type();
  if (!one_in(draw.kernel_property_random, 6))
    return draw.add_source(draw.view(from, draw.broadcastable(shape), true));
  // Both tensors in one buffer, where the elements of one alternate with those of the other.
  draw.test_case.buffers.clear();
  BufferView& to = draw.test_case.destinations.front();
  for (std::uint32_t d = 0; d < to.view.rank; ++d) to.view.strides[d] *= 2;
  to = draw.place(to.view);
  BufferView source = to;
  source.view.type = from;
  source.offset += size_of(draw.type);
  draw.test_case.buffers.front() += size_of(draw.type);
  draw.test_case.sources = {source};
}

void add_benchmark_cases(bench::CaseBuilder& list) {
  for (const ElementType type : {ElementType::f32, ElementType::bf16, ElementType::u8, ElementType::f64}) {
    bench::Case& added =
        list.add("copy", "1 GiB", "copy", {{type, {list.scaled_length(bench::GiB / size_of(type))}}});
    added.min_ratio = 0.97;
    added.quick = type == ElementType::u8 || type == ElementType::f32;
  }
}

}  // namespace

const OperationCases cases{.draw_test_case = draw_test_case, .add_benchmark_cases = add_benchmark_cases};

}  // namespace reference::copy_operation
