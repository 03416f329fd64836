#include "c/calls.hpp"

#include "c/tensor.hpp"

#include <tmajit/operations.hpp>

#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

TMAJIT_BEGIN
namespace c {
namespace {

template <class T>
T member(const std::byte* arguments, const ArgumentMember& at) {
  T value{};
  std::memcpy(&value, arguments + at.offset, sizeof value);
  return value;
}

/// A list as an argument's value. An empty list stands for an omitted argument, unless it is required.
template <class Value>
std::optional<ArgumentValue> unless_empty(const Argument& argument, std::size_t count, Value&& value) {
  if (count == 0 && !argument.required) return std::nullopt;
  return ArgumentValue(std::forward<Value>(value));
}

/// The value of one argument; nullopt if the caller omitted it.
std::optional<ArgumentValue> value_of(const Argument& argument, const std::byte* arguments,
                                      const ArgumentMember& at, const std::string& subject) {
  switch (argument.type) {
    case ArgumentType::number: {
      const auto number = to_number(member<tmajit_number>(arguments, at), subject);
      return number ? std::optional<ArgumentValue>(*number) : std::nullopt;
    }
    case ArgumentType::count:
    case ArgumentType::axis: {
      const auto number = to_integer(member<tmajit_integer>(arguments, at), subject);
      if (!number) return std::nullopt;
      if (argument.type == ArgumentType::count &&
          (*number < 0 || *number > std::numeric_limits<std::uint32_t>::max()))
        refuse("{} is {}; a whole number from 0 to 2^32 - 1 is legal", subject, *number);
      return ArgumentValue(*number);
    }
    case ArgumentType::text:
    case ArgumentType::choice: {
      const char* const text = member<const char*>(arguments, at);
      if (text == nullptr) return std::nullopt;
      if (argument.type == ArgumentType::choice) return parse_argument(argument, text, subject);
      return ArgumentValue(std::string(text));
    }
    case ArgumentType::axes:
    case ArgumentType::extents:
    case ArgumentType::numbers: {
      const auto dims = member<tmajit_dims>(arguments, at);
      return unless_empty(argument, dims.count, to_dims(dims, subject));
    }
    case ArgumentType::parts: {
      const auto integers = member<tmajit_integers>(arguments, at);
      const auto parts = array(integers.values, integers.count, subject);
      return unless_empty(argument, parts.size(), std::vector<std::int64_t>(parts.begin(), parts.end()));
    }
    case ArgumentType::slices: {
      const auto ranges = member<tmajit_ranges>(arguments, at);
      return unless_empty(argument, ranges.count, to_slices(ranges, subject));
    }
    case ArgumentType::widths: {
      const auto widths = member<tmajit_widths>(arguments, at);
      return unless_empty(argument, widths.count, to_widths(widths, subject));
    }
  }
  return std::nullopt;
}

/// Reads a caller's struct of arguments; null means no arguments. The struct is shorter if the program was
/// built for an earlier version.
Arguments read_arguments(const OperationStruct& operation, const void* c_struct) {
  Arguments arguments;
  if (c_struct == nullptr) return arguments;
  const std::string subject = std::string(operation.operation) + ": arguments";
  const std::size_t size =
      checked_size(c_struct, subject, operation.type, sizeof(std::size_t), operation.bytes);
  std::vector<std::byte> bytes(operation.bytes);
  std::memcpy(bytes.data(), c_struct, size);
  const OperationInfo& info = find_operation(operation.operation);
  for (const ArgumentMember& one : operation.members) {
    const Argument* const argument = info.find_argument(one.name);
    if (argument == nullptr)
      fail(ErrorCode::internal, "{} has no argument \"{}\"", operation.operation, one.name);
    const std::string name = fmt::format("{}: {}", operation.operation, one.name);
    if (auto value = value_of(*argument, bytes.data(), one, name)) arguments.set(one.name, std::move(*value));
  }
  return arguments;
}

std::vector<Tensor> read_tensors(const OperationStruct& operation, TensorArray tensors,
                                 std::string_view role) {
  return to_tensors(tensors.first, tensors.count, fmt::format("{}: {}", operation.operation, role));
}

Operation read_operation(const OperationStruct& operation, TensorArray destinations, TensorArray sources,
                         const void* arguments) {
  const std::vector<Tensor> destination_tensors = read_tensors(operation, destinations, "destination");
  const std::vector<Tensor> source_tensors = read_tensors(operation, sources, "source");
  return make_operation(operation.operation, List<Tensor>(std::span(destination_tensors)),
                        List<Tensor>(std::span(source_tensors)), read_arguments(operation, arguments));
}

/// The views of an operation's destinations.
std::vector<TensorView> read_results(const OperationStruct& operation, TensorArray sources,
                                     const void* arguments) {
  std::vector<TensorView> views;
  for (const Tensor& source : read_tensors(operation, sources, "source")) views.push_back(source.view);
  return destinations_of(operation.operation, views, read_arguments(operation, arguments));
}

}  // namespace

tmajit_status run(const OperationStruct& operation, tmajit_runtime* runtime, TensorArray destinations,
                  TensorArray sources, const void* arguments, void* stream, tmajit_error** error) {
  return guarded(error, [&] {
    const Runtime& cpp_runtime = require_non_null(runtime, "runtime").runtime;
    const std::vector<Tensor> destination_tensors = read_tensors(operation, destinations, "destination");
    const std::vector<Tensor> source_tensors = read_tensors(operation, sources, "source");
    run_operation(cpp_runtime, operation.operation, List<Tensor>(std::span(destination_tensors)),
                  List<Tensor>(std::span(source_tensors)), read_arguments(operation, arguments),
                  to_stream(stream));
  });
}

tmajit_status make_plan(const OperationStruct& operation, tmajit_runtime* runtime, TensorArray destinations,
                        TensorArray sources, const void* arguments, const char* family, tmajit_plan** plan,
                        tmajit_error** error) {
  return guarded(error, [&] {
    clear_result(plan, "plan");
    const Runtime& cpp_runtime = require_non_null(runtime, "runtime").runtime;
    const Operation planned = read_operation(operation, destinations, sources, arguments);
    *plan = new tmajit_plan{cpp_runtime, tmajit::plan(cpp_runtime, planned, text(family))};
  });
}

tmajit_status make_value(const OperationStruct& operation, TensorArray destinations, TensorArray sources,
                         const void* arguments, tmajit_operation** value, tmajit_error** error) {
  return guarded(error, [&] {
    clear_result(value, "operation");
    *value = new tmajit_operation{read_operation(operation, destinations, sources, arguments)};
  });
}

tmajit_status results(const OperationStruct& operation, TensorArray sources, const void* arguments,
                      tmajit_tensor* destination, tmajit_error** error) {
  return guarded(error, [&] {
    const std::vector<TensorView> views = read_results(operation, sources, arguments);
    fill(destination, std::string(operation.operation) + ": destination", Tensor(views.at(0)));
  });
}

tmajit_status results(const OperationStruct& operation, TensorArray sources, const void* arguments,
                      tmajit_tensor* destinations, std::size_t* count, tmajit_error** error) {
  return guarded(error, [&] {
    const std::size_t capacity =
        require_non_null(count, std::string(operation.operation) + ": destination_count");
    const std::vector<TensorView> views = read_results(operation, sources, arguments);
    *count = views.size();
    if (destinations == nullptr) return;
    if (capacity < views.size()) {
      refuse("{} has {}, but there is room for {}", operation.operation, counted(views.size(), "destination"),
             capacity);
    }
    const std::string subject = std::string(operation.operation) + ": destination";
    for (std::size_t i = 0; i < views.size(); ++i)
      fill(element(destinations, i, subject), subject, Tensor(views[i]));
  });
}

}  // namespace c
TMAJIT_END
