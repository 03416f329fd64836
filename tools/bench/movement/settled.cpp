#include "settled.hpp"

#include <tmajit/error.hpp>

#include <spdlog/fmt/fmt.h>

namespace movement {
namespace {

constexpr std::uint32_t calls_in_a_row = 4;  // launched without waiting, as programs do
/// Limit of calls, in multiples of the calls that the first measurements of all candidates take.
constexpr std::uint32_t call_factor = 8;

}  // namespace

Settled settle_by_tuning(const bench::Machine& machine, const tmajit::Operation& operation) {
  Settled settled{.method = "tuned"};
  try {
    const tmajit::TuneReport report =
        tune(machine.runtime, plan(machine.runtime, operation), {.store = false});
    // Store the choice in memory only: later cases would read it from the file.
    const tmajit::TuneReport::Candidate& fastest = report.candidates.front();
    tuning(machine.runtime)
        .add({.chip = machine.runtime.chip().name,
              .shape_class = report.shape_class,
              .choice = fastest.choice,
              .microseconds = fastest.microseconds});
    settled.move = plan(machine.runtime, operation);
  } catch (const tmajit::Error& error) {
    if (error.code() != tmajit::ErrorCode::unavailable) throw;
    settled.why_not = error.what();  // on the simulated device
  }
  return settled;
}

Settled settle_by_calls(const bench::Machine& machine, const tmajit::Operation& operation,
                        const tmajit::Improve& improve) {
  Settled settled{.method = "improved"};
  const tmajit::Runtime runtime(
      {.device = machine.device, .cache_directory = machine.cache_directory, .improve = improve});
  const tmajit::Plan move = plan(runtime, operation);
  const double predicted = move.plans().front().predicted_us();
  if (predicted < improve.min_predicted_us) {
    settled.why_not = fmt::format("predicted to take {:.1f} us; moves of less than {:g} us are not improved",
                                  predicted, improve.min_predicted_us);
    return settled;
  }
  const std::uint64_t initial_generation = tuning(runtime).generation();
  const auto is_chosen = [&] { return tuning(runtime).generation() != initial_generation; };
  const std::uint32_t call_limit = call_factor * improve.candidates * (improve.timed_calls + 1);
  while (settled.calls < call_limit && !is_chosen()) {
    for (std::uint32_t n = 0; n < calls_in_a_row; ++n) move(machine.stream);
    machine.device->streams().synchronize(machine.stream);
    settled.calls += calls_in_a_row;
  }
  if (is_chosen()) {
    move(machine.stream);  // uses the new choice
    settled.move = move;
  } else {
    settled.why_not = fmt::format("no choice was made in {} calls", settled.calls);
  }
  return settled;
}

}  // namespace movement
