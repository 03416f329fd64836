#include "calls.hpp"

#include "arguments.hpp"
#include "known_calls.hpp"
#include "numbers.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <memory>
#include <utility>

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace tmajit::python {
namespace {

/// Reads a tensor, or a number if `may_be_number`.
void read_one(Operand& operand, nb::handle given, const char* name, bool may_be_number) {
  if (may_be_number && is_number(given)) return read_number(operand, given);
  read_operand(operand, given, name);
}

/// Reads an argument's tensor, or all tensors of a tuple or list. Returns the object that keeps the tensors
/// alive: another thread may change the list while the launch runs.
nb::object read_all(Operands& operands, nb::handle given, const char* name, bool may_be_number) {
  nb::object tuple;
  if (PyTuple_Check(given.ptr())) {
    tuple = nb::borrow(given);
  } else if (PyList_Check(given.ptr())) {
    tuple = nb::steal(PyList_AsTuple(given.ptr()));
  } else {
    read_one(operands.emplace_back(), given, name, may_be_number);
    return tuple;
  }
  const Py_ssize_t size = PyTuple_Size(tuple.ptr());
  operands.reserve(static_cast<std::size_t>(size));
  for (Py_ssize_t i = 0; i < size; ++i)
    read_one(operands.emplace_back(), PyTuple_GetItem(tuple.ptr(), i), name, may_be_number);
  return tuple;
}

std::pmr::vector<Tensor> tensors_of(std::span<const Operand> operands) {
  std::pmr::vector<Tensor> tensors;
  tensors.reserve(operands.size());
  for (const Operand& operand : operands) tensors.push_back(operand.tensor);
  return tensors;
}

/// Whether a call copies its elements bit for bit.
bool moves_bits(const OperationInfo& operation, const Arguments& arguments) {
  return operation.moves_bits && !arguments.has("expression");
}

}  // namespace

void CallTensors::read(const OperationInfo& operation, nb::handle sources_given, nb::handle out) {
  source_owner = read_all(sources, sources_given, "a source", operation.takes_numbers);
  if (!out.is_none()) destination_owner = read_all(destinations, out, "out", false);
  const bool has_numbers =
      std::ranges::any_of(sources, [](const Operand& source) { return source.tensor.view.is_number; });
  if (has_numbers) set_numbers(sources, destinations);
  for (const Operand& destination : destinations) {
    if (destination.read_only)
      throw Error(ErrorCode::invalid_argument, std::string(operation.name) + ": out is read-only");
  }
}

const Operand* CallTensors::first_tensor() const noexcept {
  for (const Operand& source : sources) {
    if (!source.tensor.view.is_number) return &source;
  }
  return destinations.empty() ? nullptr : &destinations.front();
}

const Operand& CallTensors::first(const OperationInfo& operation) const {
  if (const Operand* const tensor = first_tensor()) return *tensor;
  throw Error(ErrorCode::invalid_argument,
              std::string(operation.name) +
                  " without a source that is a tensor needs out, which gives the shape and the device");
}

void CallTensors::check_device(const OperationInfo& operation, const Operand& like) const {
  const auto same = [&](const Operand& operand) {
    return operand.tensor.view.is_number ||
           (operand.on_gpu() == like.on_gpu() &&
            (!like.on_gpu() || operand.device.device_id == like.device.device_id));
  };
  if (std::ranges::all_of(sources, same) && std::ranges::all_of(destinations, same)) return;
  throw Error(ErrorCode::invalid_argument,
              std::string(operation.name) + ": all tensors of a call must be on one device");
}

nb::list CallTensors::make(const Operand& like, std::span<const TensorView> views,
                           std::span<const DataType* const> types) {
  nb::list made;
  destinations.reserve(views.size());
  for (std::size_t i = 0; i < views.size(); ++i) {
    Operand& result = destinations.emplace_back();
    made.append(allocate(like, *types[i], std::span(views[i].shape).first(views[i].rank), result));
    result.tensor.view.type = views[i].type;
  }
  return made;
}

std::pmr::vector<Tensor> CallTensors::all() {
  std::pmr::vector<Tensor> tensors(&memory.resource);
  for (const Operands* const operands : {&destinations, &sources})
    for (const Operand& operand : *operands) tensors.push_back(operand.tensor);
  return tensors;
}

Results results_of(const OperationInfo& operation, std::span<const Operand> sources, const DataType* type,
                   const Arguments& arguments) {
  std::vector<TensorView> views;
  for (const Operand& source : sources) views.push_back(source.tensor.view);
  Results results{.views = destinations_of(operation.name, views, arguments), .types = {}};
  for (std::size_t i = 0; i < results.views.size(); ++i) {
    TensorView& view = results.views[i];
    if (type != nullptr) {
      view.type = type->element;
      results.types.push_back(type);
    } else if (const std::size_t moved = operation.is_batch ? i : 0;
               moves_bits(operation, arguments) && moved < sources.size() &&
               sources[moved].tensor.view.type == view.type) {
      results.types.push_back(sources[moved].type);
    } else {
      results.types.push_back(&data_type(view.type));
    }
  }
  return results;
}

nb::list describe_results(std::uint32_t number, const nb::sequence& sources_given, nb::handle type_given,
                          const nb::tuple& values) {
  const OperationInfo& operation = operations()[number];
  std::vector<Operand> sources;
  for (const nb::handle given : sources_given) {
    if (operation.takes_numbers && is_number(given)) {
      read_number(sources.emplace_back(), given);
      continue;
    }
    const nb::tuple pair(given);
    sources.push_back(
        dense_operand(data_type(pair[0]), nb::cast<std::vector<std::int64_t>>(pair[1]), 0, "a source"));
  }
  set_numbers(sources, {});
  const Arguments arguments = to_arguments(operation, values);
  check_types(operation, sources, arguments);
  const DataType* const type = type_given.is_none() ? nullptr : &data_type(type_given);
  const Results results = results_of(operation, sources, type, arguments);
  nb::list described;
  for (std::size_t i = 0; i < results.views.size(); ++i) {
    nb::list shape;
    for (std::uint32_t d = 0; d < results.views[i].rank; ++d) shape.append(results.views[i].shape[d]);
    described.append(nb::make_tuple(results.types[i]->name, nb::tuple(shape)));
  }
  return described;
}

void check_types(const OperationInfo& operation, std::span<const Operand> sources,
                 const Arguments& arguments) {
  for (const Operand& source : sources) {
    if (!source.type->moves_only) continue;
    const bool has_number = std::ranges::any_of(operation.arguments, [&](const Argument& argument) {
      return argument.type == ArgumentType::number && arguments.has(argument.name);
    });
    if (moves_bits(operation, arguments) && !has_number) continue;
    throw Error(ErrorCode::unsupported, std::string(operation.name) + " does not compute with " +
                                            std::string(source.type->name) +
                                            "; operations that only move elements take it");
  }
}

Operation make_operation(const OperationInfo& operation, std::span<const Operand> destinations,
                         std::span<const Operand> sources, const Arguments& arguments) {
  const auto destination_tensors = tensors_of(destinations);
  const auto source_tensors = tensors_of(sources);
  return tmajit::make_operation(operation.name, List<Tensor>(std::span(destination_tensors)),
                                List<Tensor>(std::span(source_tensors)), arguments);
}

void enqueue(Backend& backend, const Plan& plan, CallTensors& tensors, Stream stream) {
  std::pmr::vector<DevicePtr> addresses(&tensors.memory.resource);
  addresses.reserve(tensors.destinations.size() + tensors.sources.size());
  for (const Operand& operand : tensors.destinations) addresses.push_back(operand.tensor.address);
  for (const Operand& operand : tensors.sources) addresses.push_back(operand.tensor.address);
  const std::span<const DevicePtr> all(addresses);
  const List<DevicePtr> destinations(all.first(tensors.destinations.size()));
  const List<DevicePtr> sources(all.subspan(tensors.destinations.size()));
  std::pmr::vector<Tensor> mapped(&tensors.memory.resource);
  if (backend.simulator != nullptr) mapped = tensors.all();
  run_at(backend, mapped, stream, [&](Stream on) { plan(destinations, sources, on); });
}

void launch(Backend& backend, const Plan& plan, CallTensors& tensors, Stream stream) {
  const nb::gil_scoped_release released;
  enqueue(backend, plan, tensors, stream);
  const Operand& like = *tensors.first_tensor();
  if (like.waits_for_launches()) [[unlikely]]
    backend.runtime.device()->streams().synchronize(stream);
}

nb::object run(std::uint32_t number, nb::handle sources, nb::handle out, nb::handle type_given,
               const nb::tuple& values) {
  const OperationInfo& operation = operations()[number];
  CallTensors tensors;
  tensors.read(operation, sources, out);
  const Operand& like = tensors.first(operation);
  tensors.check_device(operation, like);
  const DataType* const type = type_given.is_none() ? nullptr : &data_type(type_given);
  Backend& backend = backend_of(like);

  struct ThreadState {
    KnownCalls known;
    CallKey spare;  // keeps the key's memory for the next call
  };
  thread_local ThreadState thread;
  // An argument's __index__ or an allocator in Python may itself call tmajit, so the key is taken out.
  CallKey key = std::exchange(thread.spare, {});
  key.clear();
  key.add(number);
  key.add(&backend);
  key.add(type);
  add_operands(key, tensors.sources);
  add_operands(key, tensors.destinations);
  const std::size_t size_without_arguments = key.words().size();
  add_to_key(key, operation, values);

  const Stream stream = current_stream(like);
  nb::object made = nb::none();
  // The pointer is shared: an allocator in Python may itself call tmajit, which may evict this cached call.
  std::shared_ptr<KnownCall> call = thread.known.find(key);
  if (call == nullptr) [[unlikely]] {
    const Arguments arguments = to_arguments(operation, values);
    // The values may differ from those in the key: another thread may have changed a list since.
    key.truncate(size_without_arguments);
    add_to_key(key, operation, arguments);
    check_types(operation, tensors.sources, arguments);
    Results results;
    if (out.is_none()) {
      results = results_of(operation, tensors.sources, type, arguments);
      made = tensors.make(like, results.views, results.types);
    }
    const auto plan = [&] {
      const nb::gil_scoped_release released;
      return tmajit::plan(backend.runtime,
                          make_operation(operation, tensors.destinations, tensors.sources, arguments));
    };
    call = std::make_shared<KnownCall>(KnownCall{std::move(results), plan()});
    thread.known.insert(key, call);
  } else if (out.is_none()) {
    made = tensors.make(like, call->results.views, call->results.types);
  }
  launch(backend, call->plan, tensors, stream);
  thread.spare = std::move(key);
  return made;
}

}  // namespace tmajit::python
