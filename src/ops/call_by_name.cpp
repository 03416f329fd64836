#include "ops/call.hpp"

#include <tmajit/operations.hpp>

#include <array>

TMAJIT_BEGIN
namespace {

// Each add() adds the value of an argument to the key by which a call finds its cached plan.
void add(Call& call, double number) {
  call.with(number);
}
void add(Call& call, std::int64_t number) {
  call.with(number);
}
void add(Call& call, const std::string& text) {
  call.with(std::span<const char>(text));
}
void add(Call& call, const Dims& dims) {
  call.with(std::span<const std::int64_t>(dims));
}
void add(Call& call, const std::vector<std::int64_t>& numbers) {
  call.with(std::span<const std::int64_t>(numbers));
}
void add(Call& call, const PadWidths& widths) {
  add(call, widths.before);
  add(call, widths.after);
}
void add(Call& call, const std::vector<Slice>& slices) {
  call.with(slices.size());
  for (const Slice& one : slices) {
    call.with(std::array{one.start.has_value() ? std::int64_t{1} : 0, one.start.value_or(0),
                         one.stop.has_value() ? std::int64_t{1} : 0, one.stop.value_or(0), one.step});
  }
}

}  // namespace

void run_operation(const Runtime& runtime, std::string_view operation, List<Tensor> destinations,
                   List<Tensor> sources, const Arguments& arguments, Stream stream) {
  Call call(runtime, 'y', destinations, sources);
  call.with(std::span<const char>(operation)).with(arguments.all().size());
  for (const auto& [name, value] : arguments.all()) {
    call.with(std::span<const char>(name)).with(value.index());
    std::visit([&](const auto& typed) { add(call, typed); }, value);
  }
  call.run(stream, [&] { return make_operation(operation, destinations, sources, arguments); });
}

TMAJIT_END
