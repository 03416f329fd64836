// Steps that make and drop devices, runtimes and plans.
#include "sequences/sequence.hpp"

#include <string_view>
#include <utility>

#include <unistd.h>

using namespace tmajit;

namespace sequences {

void Sequence::open_device() {
  if (!has_devices()) return;
  note("open a device");
  add(devices_, environment_.backend.open());
}

void Sequence::drop_device() {
  note("drop a device's handle");
  drop(devices_);
}

void Sequence::make_runtime() {
  RuntimeOptions options;
  std::string text = "make a runtime without a device";
  if (has_devices() && !one_in(6)) {
    if (devices_.empty()) open_device();
    options.device = any(devices_);
    text = "make a runtime";
  }
  options.cache_directory = environment_.cache;
  const std::filesystem::path own = environment_.folder / std::to_string(::getpid());
  switch (below(100)) {
    case 0:
      options.cache_directory = std::nullopt;
      text += ", without a cache directory";
      break;
    case 1:
      options.cache_directory = own;
      text += ", with its own cache directory";
      break;
    case 2:
      std::filesystem::remove_all(own);
      std::filesystem::copy(environment_.cache, own, std::filesystem::copy_options::recursive);
      options.cache_directory = own;
      text += ", with a copy of the cache directory";
      break;
    default: break;
  }
  if (one_in(3)) {
    options.improve = {.candidates = 3, .timed_calls = 1, .min_predicted_us = 0};
    text += ", whose choices improve";
  }
  note(text);
  add(runtimes_, std::make_shared<Runtime>(options));
}

Runtime& Sequence::any_runtime() {
  if (runtimes_.empty()) make_runtime();
  return *any(runtimes_);
}

void Sequence::copy_runtime() {
  Runtime& runtime = any_runtime();
  note("copy a runtime's handle");
  add(runtimes_, std::make_shared<Runtime>(runtime));
}

void Sequence::assign_runtime() {
  Runtime& to = any_runtime();
  const Runtime& from = any_runtime();
  note("assign a runtime's handle");
  to = from;
}

void Sequence::drop_runtime() {
  note("drop a runtime's handle");
  drop(runtimes_);
}

void Sequence::make_plan() {
  const Runtime& runtime = any_runtime();
  const Case& test_case = any_case();
  note("plan: " + test_case.drawn.text());
  auto placement = place(runtime.device(), test_case);
  add(plans_, std::make_shared<Planned>(Planned{plan(runtime, placement->operation()), placement}));
}

void Sequence::copy_plan() {
  if (plans_.empty()) return make_plan();
  note("copy a plan");
  const Planned& from = *any(plans_);
  if (one_in(2)) return add(plans_, std::make_shared<Planned>(from));
  *any(plans_) = Planned(from);
}

void Sequence::use_plan() {
  if (plans_.empty()) make_plan();
  const std::shared_ptr<Planned> planned = any(plans_);
  note("use a plan with the addresses that it was made for");
  if (planned->placement->device())
    return run_at(*planned->placement, [&](Stream stream) { planned->plan(stream); });
  if (!planned->plan.kernels().empty()) must_throw(ErrorCode::unavailable, [&] { planned->plan(); });
}

void Sequence::use_plan_at_other_addresses() {
  if (plans_.empty()) make_plan();
  const std::shared_ptr<Planned> planned = any(plans_);
  const auto placement = place(planned->placement->device(), planned->placement->test_case());
  note("use a plan with other addresses, " + std::to_string(placement->shift()) +
       " bytes after a multiple of 256");
  const auto use = [&](Stream stream) {
    planned->plan(placement->destinations(), placement->sources(), stream);
  };
  if (placement->device()) return run_at(*placement, use);
  if (!planned->plan.kernels().empty()) must_throw(ErrorCode::unavailable, [&] { use(nullptr); });
}

void Sequence::misuse_plan() {
  if (plans_.empty()) make_plan();
  const std::shared_ptr<Planned> planned = any(plans_);
  const auto placement = place(planned->placement->device(), planned->placement->test_case());
  std::vector<DevicePtr> destinations = placement->destinations();
  std::vector<DevicePtr> sources = placement->sources();
  const std::string_view name = placement->test_case().drawn.operation;
  // Maps and casts may work in place. Operations other than these three may read only a part of the source,
  // which then need not overlap.
  const bool whole = name == "copy" || name == "flip" || name == "permute";
  const Operation& operation = planned->plan.operation();
  if (one_in(2) && whole && !sources.empty() && operation.destinations[0].view.elements() > 0) {
    note("use a plan with addresses at which tensors overlap");
    destinations[0] = sources[0];
    return must_throw(ErrorCode::illegal_spec, [&] { planned->plan(destinations, sources); });
  }
  note("use a plan with wrong numbers of addresses");
  std::vector<DevicePtr>& wrong = sources.empty() || one_in(2) ? destinations : sources;
  if (one_in(2)) {
    wrong.push_back(wrong.back());
  } else {
    wrong.pop_back();
  }
  must_throw(ErrorCode::invalid_argument, [&] { planned->plan(destinations, sources); });
}

void Sequence::explain_plan() {
  if (plans_.empty()) make_plan();
  note("explain a plan");
  const Planned& planned = *any(plans_);
  const MoveExplanation explanation = planned.plan.explain();
  const std::string text = explanation.text();
  if (explanation.steps.size() != planned.plan.kernels().size() ||
      text.empty() != explanation.steps.empty()) {
    throw Failure("an explanation of " + std::to_string(explanation.steps.size()) + " steps for " +
                  std::to_string(planned.plan.kernels().size()) + " kernels");
  }
}

void Sequence::drop_plan() {
  note("drop a plan");
  drop(plans_);
}

void Sequence::plan_invalid_operation() {
  const Runtime& runtime = any_runtime();
  const auto placement = place(runtime.device(), environment_.cases.front());
  const Operation operation = placement->operation();
  const Tensor& to = operation.destinations[0];
  switch (below(8)) {
    case 0:
      note("plan an expression that does not compile");
      return must_throw(ErrorCode::compile_failed, [&] {
        (void)plan(runtime, operation::map(to, "x0 + nothing_of_that_name", operation.sources));
      });
    case 1:
    case 2:
      note("plan with an unknown family");
      return must_throw(ErrorCode::invalid_argument, [&] { (void)plan(runtime, operation, "no such"); });
    default:
      note("call an operation on tensors that overlap");
      must_throw(ErrorCode::illegal_spec, [&] { copy(runtime, to, to); });
  }
}

}  // namespace sequences
