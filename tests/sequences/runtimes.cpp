// Steps of a random sequence that make, use and drop devices, runtimes and plans; each function is a step. A
// step draws random objects that earlier steps made (any()). If there are none, it makes one, or a step that
// drops objects does nothing. Before its main call it notes what it does, so that the journal names the step
// in which a process died.
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
  const std::filesystem::path process_cache = environment_.folder / std::to_string(::getpid());
  switch (below(100)) {  // most runtimes use the cache that has the kernels of all cases
    case 0:
      options.cache_directory = std::nullopt;
      text += ", without a cache directory";
      break;
    case 1:
      options.cache_directory = process_cache;
      text += ", with a cache directory of this process";
      break;
    case 2:
      std::filesystem::remove_all(process_cache);
      std::filesystem::copy(environment_.cache, process_cache, std::filesystem::copy_options::recursive);
      options.cache_directory = process_cache;
      text += ", with a copy of the cache directory";
      break;
    default: break;
  }
  if (one_in(3)) {
    options.improve = {.candidates = 3, .timed_calls = 1, .min_predicted_us = 0};
    text += ", which tries kernels during calls and keeps the fastest";
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
  Runtime& destination = any_runtime();
  const Runtime& source = any_runtime();
  note("assign a runtime's handle to another handle");
  destination = source;
}

void Sequence::drop_runtime() {
  note("drop a runtime's handle");
  drop(runtimes_);
}

void Sequence::make_plan() {
  const Runtime& runtime = any_runtime();
  const Case& test_case = any_case();
  note("make a plan: " + test_case.definition.text());
  auto placement = place(runtime.device(), test_case);
  add(plans_, std::make_shared<Planned>(Planned{plan(runtime, placement->operation()), placement}));
}

void Sequence::copy_plan() {
  if (plans_.empty()) return make_plan();
  note("copy a plan");
  const Planned& source = *any(plans_);
  if (one_in(2)) return add(plans_, std::make_shared<Planned>(source));
  *any(plans_) = Planned(source);
}

void Sequence::use_plan() {
  if (plans_.empty()) make_plan();
  const std::shared_ptr<Planned> planned = any(plans_);
  note("launch a plan at the addresses that it was made for");
  if (planned->placement->device())
    return run_at(*planned->placement, [&](Stream stream) { planned->plan(stream); });
  // Without a device, the launch of a kernel is an error. A plan of an empty tensor has no kernels.
  if (!planned->plan.kernels().empty()) must_throw(ErrorCode::unavailable, [&] { planned->plan(); });
}

void Sequence::use_plan_at_other_addresses() {
  if (plans_.empty()) make_plan();
  const std::shared_ptr<Planned> planned = any(plans_);
  const auto placement = place(planned->placement->device(), planned->placement->test_case());
  note("launch a plan at other addresses, " + std::to_string(placement->shift()) +
       " bytes after a multiple of 256");
  const auto launch = [&](Stream stream) {
    planned->plan(placement->destinations(), placement->sources(), stream);
  };
  if (placement->device()) return run_at(*placement, launch);
  if (!planned->plan.kernels().empty()) must_throw(ErrorCode::unavailable, [&] { launch(nullptr); });
}

void Sequence::misuse_plan() {
  if (plans_.empty()) make_plan();
  const std::shared_ptr<Planned> planned = any(plans_);
  const auto placement = place(planned->placement->device(), planned->placement->test_case());
  std::vector<DevicePtr> destinations = placement->destinations();
  std::vector<DevicePtr> sources = placement->sources();
  const std::string_view name = placement->test_case().definition.operation;
  // Only these operations always reject a destination at the source's address. Maps and casts may work in
  // place. The other operations may read only a part of the source, which the destination need not overlap.
  const bool rejects_overlap = name == "copy" || name == "flip" || name == "permute";
  const Operation& operation = planned->plan.operation();
  if (one_in(2) && rejects_overlap && !sources.empty() && operation.destinations[0].view.elements() > 0) {
    note("launch a plan at addresses at which tensors overlap");
    destinations[0] = sources[0];
    return must_throw(ErrorCode::illegal_spec, [&] { planned->plan(destinations, sources); });
  }
  note("launch a plan with one address too many or too few");
  std::vector<DevicePtr>& addresses = sources.empty() || one_in(2) ? destinations : sources;
  if (one_in(2)) {
    addresses.push_back(addresses.back());
  } else {
    addresses.pop_back();
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
  const Tensor& destination = operation.destinations[0];
  switch (below(8)) {
    case 0:
      note("plan an expression that does not compile");
      return must_throw(ErrorCode::compile_failed, [&] {
        (void)plan(runtime, operation::map(destination, "x0 + undeclared", operation.sources));
      });
    case 1:
    case 2:
      note("plan for an unknown family of kernels");
      return must_throw(ErrorCode::invalid_argument,
                        [&] { (void)plan(runtime, operation, "no_such_family"); });
    default:
      note("copy a tensor to itself");
      must_throw(ErrorCode::illegal_spec, [&] { copy(runtime, destination, destination); });
  }
}

}  // namespace sequences
