#include "xla.hpp"

#include "arguments.hpp"
#include "calls.hpp"
#include "known_calls.hpp"
#include "numbers.hpp"
#include "xla_ffi.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/stl/string_view.h>

namespace tmajit::python {
namespace {

/// The attribute that names the operation. The other attributes are its arguments, as parse_argument() reads
/// them.
constexpr std::string_view operation_attribute = "operation";
/// The attribute that holds the numbers in place of the last sources: "i3 f4611686018427387904" are the int 3
/// and the float 2.0, by its bits. It is no part of a call's key, since all values share one plan.
constexpr std::string_view numbers_attribute = "numbers";

dlpack::DLDataType dlpack_type(xla::DataType type) {
  switch (type) {
    case xla::pred: return {dlpack::boolean, 8, 1};
    case xla::s8: return {dlpack::signed_integer, 8, 1};
    case xla::s16: return {dlpack::signed_integer, 16, 1};
    case xla::s32: return {dlpack::signed_integer, 32, 1};
    case xla::s64: return {dlpack::signed_integer, 64, 1};
    case xla::u8: return {dlpack::unsigned_integer, 8, 1};
    case xla::u16: return {dlpack::unsigned_integer, 16, 1};
    case xla::u32: return {dlpack::unsigned_integer, 32, 1};
    case xla::u64: return {dlpack::unsigned_integer, 64, 1};
    case xla::f16: return {dlpack::floating, 16, 1};
    case xla::f32: return {dlpack::floating, 32, 1};
    case xla::f64: return {dlpack::floating, 64, 1};
    case xla::c64: return {dlpack::complex_number, 64, 1};
    case xla::bf16: return {dlpack::brain_floating, 16, 1};
    case xla::f8e5m2: return {dlpack::e5m2, 8, 1};
    case xla::f8e4m3fn: return {dlpack::e4m3fn, 8, 1};
  }
  throw Error(ErrorCode::unsupported,
              "elements of XLA's type " + std::to_string(static_cast<int>(type)) + " are not supported");
}

void read(Operands& operands, const xla::Buffers& buffers, std::int64_t count, const char* name) {
  operands.reserve(static_cast<std::size_t>(count));
  for (const xla::Buffer* const buffer : std::span(buffers.buffers, static_cast<std::size_t>(count))) {
    operands.push_back(dense_operand(data_type(dlpack_type(buffer->type)),
                                     {buffer->shape, static_cast<std::size_t>(buffer->rank)},
                                     reinterpret_cast<std::uintptr_t>(buffer->data), name));
  }
}

std::string_view text(const xla::Text& text) {
  return {text.bytes, text.size};
}

/// Calls `use(name, value)` for each attribute.
template <class Use>
void for_each(const xla::Attributes& attributes, Use&& use) {
  for (std::int64_t i = 0; i < attributes.size; ++i) {
    if (attributes.types[i] != xla::string)
      throw Error(ErrorCode::invalid_argument, "the attributes of an operation of tmajit must be strings");
    use(text(*attributes.names[i]), text(*static_cast<const xla::Text*>(attributes.values[i])));
  }
}

/// The numbers of the attribute. Throws Error{invalid_argument} for an int of more than 64 bits.
std::vector<NumberValue> numbers_of(std::string_view given) {
  std::vector<NumberValue> numbers;
  while (!given.empty()) {
    const std::string_view word = given.substr(0, given.find(' '));
    given.remove_prefix(std::min(word.size() + 1, given.size()));
    const char* const end = word.data() + word.size();
    std::int64_t bits = 0;
    if (const auto [stop, error] = std::from_chars(word.data() + 1, end, bits);
        error != std::errc{} || stop != end) {
      throw Error(ErrorCode::invalid_argument, "the number " + std::string(word.substr(1)) +
                                                   " has more than 64 bits; legal is -2^63 to 2^63 - 1");
    }
    if (word.front() == 'f') {
      numbers.emplace_back(std::bit_cast<double>(bits));
    } else {
      numbers.emplace_back(bits);
    }
  }
  return numbers;
}

/// Adds the numbers of a call to its sources.
void add_numbers(CallTensors& tensors, std::string_view given) {
  const std::vector<NumberValue> values = numbers_of(given);
  for (std::size_t k = 0; k < values.size(); ++k) tensors.sources.emplace_back().tensor.view.is_number = true;
  set_numbers(tensors.sources, tensors.destinations, values);
}

const OperationInfo& operation_of(const xla::Attributes& attributes) {
  std::string_view name;
  for_each(attributes, [&](std::string_view attribute, std::string_view value) {
    if (attribute == operation_attribute) name = value;
  });
  return find_operation(name);
}

/// The value of an attribute. The text of an empty list is empty, or ":"; parse_argument() rejects it.
ArgumentValue value_of(const Argument& argument, std::string_view value, const std::string& subject) {
  if (value.empty() || value == ":") {
    switch (argument.type) {
      case ArgumentType::axes:
      case ArgumentType::extents:
      case ArgumentType::numbers: return Dims();
      case ArgumentType::parts: return std::vector<std::int64_t>();
      case ArgumentType::slices: return std::vector<Slice>();
      case ArgumentType::widths: return PadWidths();
      default: break;
    }
  }
  return parse_argument(argument, value, subject);
}

Arguments arguments_of(const OperationInfo& operation, const xla::Attributes& attributes) {
  Arguments arguments;
  for_each(attributes, [&](std::string_view attribute, std::string_view value) {
    if (attribute == operation_attribute || attribute == numbers_attribute) return;
    const std::string subject = std::string(operation.name) + ": " + std::string(attribute);
    const Argument* const argument = operation.find_argument(attribute);
    if (argument == nullptr) throw Error(ErrorCode::invalid_argument, subject + " is no argument");
    arguments.set(attribute, value_of(*argument, value, subject));
  });
  return arguments;
}

/// Throws Error{unavailable} if a function of XLA returned an error.
void check(const xla::Api& api, xla::Error* error, const char* what) {
  if (error == nullptr) return;
  xla::ErrorDestroy destroy{sizeof(destroy), nullptr, error};
  api.error_destroy(&destroy);
  throw Error(ErrorCode::unavailable, std::string("XLA gives no ") + what);
}

void run(const xla::CallFrame& frame, bool on_gpu) {
  Stream stream = nullptr;
  std::optional<std::int32_t> gpu;
  if (on_gpu) {
    if (frame.api->struct_size < sizeof(xla::Api))
      throw Error(ErrorCode::unavailable, "tmajit needs a later version of XLA, which names the device");
    xla::StreamGet current{sizeof(current), nullptr, frame.context, nullptr};
    check(*frame.api, frame.api->stream_get(&current), "stream");
    stream = static_cast<Stream>(current.stream);
    xla::DeviceOrdinalGet device{sizeof(device), nullptr, frame.context, 0};
    check(*frame.api, frame.api->device_ordinal_get(&device), "device");
    gpu = device.ordinal;
  }
  Backend& backend = backend_on(gpu);
  const OperationInfo& operation = operation_of(frame.attributes);
  CallTensors tensors;
  // An operation that reads its destination gets it as the last source too, which shares the result's memory.
  const std::int64_t sources = frame.sources.size - (operation.reads_destination ? 1 : 0);
  read(tensors.sources, frame.sources, sources, "a source");
  read(tensors.destinations, frame.results, frame.results.size, "the result");

  thread_local KnownCalls known;
  thread_local CallKey key;
  key.clear();
  key.add(&backend);
  key.add(static_cast<std::uint64_t>(frame.attributes.size));
  for_each(frame.attributes, [&tensors](std::string_view attribute, std::string_view value) {
    if (attribute == numbers_attribute) return add_numbers(tensors, value);
    key.add_text(attribute);
    key.add_text(value);
  });
  add_operands(key, tensors.sources);
  add_operands(key, tensors.destinations);
  std::shared_ptr<KnownCall> call = known.find(key);
  if (call == nullptr) [[unlikely]] {
    const Arguments arguments = arguments_of(operation, frame.attributes);
    check_types(operation, tensors.sources, arguments);
    call = std::make_shared<KnownCall>(KnownCall{
        {},
        plan(backend.runtime, make_operation(operation, tensors.destinations, tensors.sources, arguments))});
    known.insert(key, call);
  }
  enqueue(backend, call->plan, tensors, stream);
}

xla::Error* to_xla(const xla::Api& api, xla::ErrorCode code, const char* message) {
  xla::ErrorCreate create{sizeof(create), nullptr, message, code};
  return api.error_create(&create);
}

/// XLA asks for the version of its interface before the first call.
bool answer_metadata(const xla::CallFrame& frame) {
  if (frame.extension == nullptr || frame.extension->type != xla::metadata_extension) return false;
  xla::Metadata& metadata = *reinterpret_cast<xla::MetadataExtension*>(frame.extension)->metadata;
  const xla::ApiVersion& found = frame.api->version;
  metadata.version = {sizeof(metadata.version), nullptr, xla::api_major, xla::api_minor};
  if (found.major == xla::api_major && found.minor < xla::api_minor) metadata.version.minor = found.minor;
  metadata.traits = 0;
  if (metadata.version.minor >= 3) metadata.state_type = 0;  // the handler has no state
  return true;
}

/// The handler, which XLA calls without the GIL.
template <bool on_gpu>
xla::Error* handle(xla::CallFrame* frame) noexcept {
  try {
    if (!answer_metadata(*frame)) run(*frame, on_gpu);
    return nullptr;
  } catch (const Error& error) {
    const bool invalid = error.code() == ErrorCode::invalid_argument;
    return to_xla(*frame->api, invalid ? xla::invalid_argument : xla::internal, error.what());
  } catch (const std::exception& error) {
    return to_xla(*frame->api, xla::internal, error.what());
  }
}

nb::capsule handler(bool on_gpu) {
  return nb::capsule(reinterpret_cast<void*>(on_gpu ? &handle<true> : &handle<false>));
}

nb::dict attributes(std::uint32_t number, const nb::tuple& values, std::string_view numbers) {
  const OperationInfo& operation = operations()[number];
  nb::dict texts;
  texts[nb::cast(operation_attribute)] = operation.name;
  const Arguments arguments = to_arguments(operation, values);
  for (const auto& [name, value] : arguments.all()) texts[nb::cast(name)] = text_of(value);
  if (!numbers.empty()) texts[nb::cast(numbers_attribute)] = numbers;
  return texts;
}

}  // namespace

void bind_xla(nb::module_& module) {
  module.def("xla_handler", &handler, nb::arg("on_gpu"), "The handler of XLA's FFI, as a capsule.");
  module.def("xla_attributes", &attributes, nb::arg("operation"), nb::arg("values"), nb::arg("numbers"),
             "The attributes that the handler reads.");
}

}  // namespace tmajit::python
