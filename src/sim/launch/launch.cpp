#include "sim/launch/launch.hpp"

#include "check/rules.hpp"

#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {

void locate(Report& report, const Program& program, std::uint32_t location) {
  report.kernel = program.entry;
  if (location >= program.locations.size()) return;
  const CodeLocation& at = program.locations[location];
  report.ptx_line = at.line;
  report.ptx_column = at.column;
  report.source_file = at.source_file;
  report.source_path = at.source_path;
  report.source_line = at.source_line;
  report.instruction = at.text;
}

void report_lost(Launch& launch) {
  for (const auto& [address, block] : launch.heap->lost(launch.number, launch.regions)) {
    Report report;
    check::describe(report, check::RuleId("heap.leak"),
                    fmt::format("{} bytes at {:#x}: when the launch ends nothing in memory points to them",
                                block.bytes, address),
                    {}, {});
    locate(report, launch.program, block.allocated.location);
    report.cta = block.allocated.cta;
    report.thread = block.allocated.thread;
    launch.reports.add(std::move(report));
  }
}

void Launch::print(const std::string& text) {
  if (!options.print) return;
  const std::lock_guard lock(print_mutex);
  options.print(text);
}

}  // namespace sim
TMAJIT_END
