#include "plan_request.hpp"

#include "arguments.hpp"

#include <utility>

namespace tmajit::python {

PlanRequest::PlanRequest(std::uint32_t number, nb::handle sources, nb::handle out, nb::handle type_given,
                         const nb::tuple& values)
    : operation(operations()[number]) {
  tensors.read(operation, sources, out);
  const Operand& like = tensors.first(operation);
  tensors.check_device(operation, like);
  arguments = to_arguments(operation, values);
  check_types(operation, tensors.sources, arguments);
  const DataType* const type = type_given.is_none() ? nullptr : &data_type(type_given);
  if (out.is_none()) {
    results = results_of(operation, tensors.sources, type, arguments);
    // Addresses that no real tensor has, with the alignment that allocators give. Each launch replaces them.
    DevicePtr address = std::uint64_t{1} << 46;
    for (std::size_t i = 0; i < results.views.size(); ++i) {
      Operand& result = tensors.destinations.emplace_back();
      result.tensor = {results.views[i], address};
      result.type = results.types[i];
      address += (results.views[i].span_bytes() + 511) / 256 * 256;
    }
  } else {
    for (const Operand& destination : tensors.destinations) {
      results.views.push_back(destination.tensor.view);
      results.types.push_back(destination.type);
    }
  }
  backend = &backend_of(tensors.first(operation));
}

}  // namespace tmajit::python
