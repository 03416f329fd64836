#include "c/case_calls.hpp"

#include "c/members.hpp"

#include <tmajit/arguments.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

using namespace tmajit;

namespace tests {
namespace {

using Tensors = std::span<const tmajit_tensor>;

// Each set() converts an argument's value from its C++ type to its C type.
void set(const char*& to, const ArgumentValue& value) {
  to = std::get<std::string>(value).c_str();
}
void set(tmajit_number& to, const ArgumentValue& value) {
  to = {.value = std::get<double>(value), .given = 1, .reserved = 0};
}
void set(tmajit_integer& to, const ArgumentValue& value) {
  to = {.value = std::get<std::int64_t>(value), .given = 1, .reserved = 0};
}
void set(tmajit_dims& to, const ArgumentValue& value) {
  const auto& dims = std::get<Dims>(value);
  to.count = static_cast<std::uint32_t>(dims.size());
  std::ranges::copy(dims, to.values);
}
void set(tmajit_integers& to, const ArgumentValue& value) {
  const auto& numbers = std::get<std::vector<std::int64_t>>(value);
  to = {.count = numbers.size(), .values = numbers.data()};
}
void set(tmajit_ranges& to, const ArgumentValue& value) {
  const auto& slices = std::get<std::vector<Slice>>(value);
  to.count = static_cast<std::uint32_t>(slices.size());
  for (std::size_t d = 0; d < slices.size(); ++d) {
    const Slice& slice = slices[d];
    if (slice.start) to.values[d].start = {.value = *slice.start, .given = 1, .reserved = 0};
    if (slice.stop) to.values[d].stop = {.value = *slice.stop, .given = 1, .reserved = 0};
    to.values[d].step = {.value = slice.step, .given = 1, .reserved = 0};
  }
}
void set(tmajit_widths& to, const ArgumentValue& value) {
  const auto& widths = std::get<PadWidths>(value);
  to.count = static_cast<std::uint32_t>(widths.before.size());
  std::ranges::copy(widths.before, to.before);
  std::ranges::copy(widths.after, to.after);
}

/// A visitor that fills members from a case's arguments. require_all() throws if an argument has no member.
class Filler {
 public:
  explicit Filler(const Arguments& given) : given_(given) {}
  template <class Member>
  Filler& member(Member& to, std::string_view name) {
    if (const ArgumentValue* const value = given_.find(name); value != nullptr) {
      set(to, *value);
      ++filled_;
    }
    return *this;
  }
  void require_all() const {
    if (filled_ != given_.all().size()) throw std::logic_error("a case has an argument that no member has");
  }

 private:
  const Arguments& given_;
  std::size_t filled_ = 0;
};

/// Calls the functions of one operation. Their signatures tell whether they take one tensor or an array.
template <class ArgumentStruct, auto run_function, auto plan_function, auto operation_function,
          auto results_function>
class CallOf : public CaseCall {
 public:
  explicit CallOf(const reference::TestCase& test_case) : test_case_(test_case) {}

  tmajit_status run(tmajit_runtime* runtime, Tensors destinations, Tensors sources,
                    tmajit_error** error) const override {
    const ArgumentStruct given = arguments();
    return call_with_tensors(run_function, std::tuple(runtime), destinations, sources, &given,
                             static_cast<void*>(nullptr), error);
  }
  tmajit_status plan(tmajit_runtime* runtime, Tensors destinations, Tensors sources, tmajit_plan** plan,
                     tmajit_error** error) const override {
    const ArgumentStruct given = arguments();
    return call_with_tensors(plan_function, std::tuple(runtime), destinations, sources, &given,
                             static_cast<const char*>(nullptr), plan, error);
  }
  tmajit_status operation(Tensors destinations, Tensors sources, tmajit_operation** operation,
                          tmajit_error** error) const override {
    const ArgumentStruct given = arguments();
    return call_with_tensors(operation_function, std::tuple(), destinations, sources, &given, operation,
                             error);
  }
  tmajit_status results(Tensors sources, std::span<tmajit_tensor> results,
                        tmajit_error** error) const override {
    const ArgumentStruct given = arguments();
    return call_results<results_function>(sources, given, results, error);
  }

 private:
  [[nodiscard]] ArgumentStruct arguments() const {
    ArgumentStruct given{};
    given.size = sizeof given;
    Filler filler(test_case_.arguments);
    visit_members(given, filler);
    filler.require_all();
    return given;
  }

  const reference::TestCase& test_case_;
};

}  // namespace

std::unique_ptr<CaseCall> call_of(const reference::TestCase& test_case) {
#define TMAJIT_CALL(name)                                                                          \
  if (test_case.operation == #name)                                                                \
    return std::make_unique<CallOf<tmajit_##name##_arguments, tmajit_##name, tmajit_##name##_plan, \
                                   tmajit_##name##_operation, tmajit_##name##_results>>(test_case);
  TMAJIT_FOR_EACH_OPERATION(TMAJIT_CALL)
#undef TMAJIT_CALL
  throw std::logic_error("the C interface has no operation " + std::string(test_case.operation));
}

}  // namespace tests
