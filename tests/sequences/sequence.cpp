#include "sequences/sequence.hpp"

#include <algorithm>
#include <array>
#include <string_view>

using namespace tmajit;

namespace sequences {

Sequence::Sequence(const Environment& environment, std::uint64_t seed)
    : environment_(environment), random_(seed), steps_left_(8 + below(30)) {}

Sequence::~Sequence() = default;

std::span<const Sequence::Step> Sequence::steps() {
  static constexpr std::array all{
      Step{3, &Sequence::open_device},
      Step{4, &Sequence::drop_device},
      Step{6, &Sequence::make_runtime},
      Step{4, &Sequence::copy_runtime},
      Step{2, &Sequence::assign_runtime},
      Step{6, &Sequence::drop_runtime},
      Step{12, &Sequence::make_plan},
      Step{3, &Sequence::copy_plan},
      Step{6, &Sequence::use_plan},
      Step{12, &Sequence::use_plan_at_other_addresses},
      Step{4, &Sequence::misuse_plan},
      Step{2, &Sequence::explain_plan},
      Step{5, &Sequence::drop_plan},
      Step{2, &Sequence::plan_invalid_operation},
      Step{4, &Sequence::make_kernel},
      Step{1, &Sequence::make_custom_kernel},
      Step{8, &Sequence::prepare},
      Step{6, &Sequence::launch},
      Step{6, &Sequence::rebind},
      Step{2, &Sequence::misuse_rebind},
      Step{4, &Sequence::move_launch},
      Step{4, &Sequence::drop_launch},
      Step{2, &Sequence::misuse_prepare},
      Step{3, &Sequence::drop_kernel},
      Step{12, &Sequence::call_operation},
      Step{4, &Sequence::call_in_thread},
      Step{5, &Sequence::start_thread},
      Step{3, &Sequence::join_thread},
      Step{8, &Sequence::capture},
      Step{10, &Sequence::replay},
      Step{3, &Sequence::drop_graph_template},
      Step{4, &Sequence::drop_graph},
      Step{5, &Sequence::fork_child},
  };
  return all;
}

std::optional<EndOfProcess> Sequence::run() {
  while (steps_left_ > 0) {
    --steps_left_;
    step();
  }
  // One sequence in thirty ends its process while all objects exist.
  if (!end_ && one_in(30)) end_ = random_end();
  if (end_) {
    end_by(*end_);
    return end_;
  }
  destroy_all();
  return std::nullopt;
}

void Sequence::step() {
  unsigned sum = 0;
  for (const Step& one : steps()) sum += one.weight;
  auto drawn = below(sum);
  for (const Step& one : steps()) {
    if (drawn < one.weight) return (this->*one.run)();
    drawn -= one.weight;
  }
}

std::vector<std::shared_ptr<void>> Sequence::take_all() {
  std::vector<std::shared_ptr<void>> all;
  const auto take = [&all](auto& pool) {
    all.insert(all.end(), pool.begin(), pool.end());
    pool.clear();
  };
  take(devices_);
  take(runtimes_);
  take(plans_);
  take(kernels_);
  take(launches_);
  take(graphs_);
  take(inherited_);
  std::ranges::shuffle(all, random_);
  return all;
}

void Sequence::destroy_all() {
  note("destroy everything");
  const auto join_all = [this] {
    while (!callers_.empty()) {
      callers_.back()->join();
      callers_.pop_back();
    }
  };
  const bool threads_first = one_in(2);
  if (threads_first) join_all();
  std::vector<std::shared_ptr<void>> all = take_all();
  while (!all.empty()) all.pop_back();
  join_all();
}

const Case& Sequence::any_case() {
  return environment_.cases[below(environment_.cases.size())];
}

std::shared_ptr<Placement> Sequence::place(const std::shared_ptr<Device>& device, const Case& test_case,
                                           bool aligned) {
  const std::array<std::uint64_t, 3> shifts{0, 16, test_case.unit};
  return std::make_shared<Placement>(device, test_case, shifts[below(aligned ? 2 : 3)]);
}

void Sequence::run_at(const Placement& placement, const std::function<void(Stream)>& work) {
  Device& device = *placement.device();
  const Stream stream = one_in(2) ? device.streams().create() : nullptr;
  try {
    if (environment_.backend.computes()) placement.write(stream);
    work(stream);
    if (environment_.backend.computes()) placement.check(stream);
  } catch (...) {
    device.streams().destroy(stream);
    throw;
  }
  device.streams().destroy(stream);
}

}  // namespace sequences
