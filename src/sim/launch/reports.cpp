/// Merges reports that have one cause, and puts a cause before its consequences.
#include "sim/launch/reports.hpp"

#include "check/also_lines.hpp"

TMAJIT_BEGIN
namespace sim {
void Reports::add(Report report, Cause cause) {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, std::uint32_t>> shown{{report.rule, report.ptx_line}};
  if (!cause.symptom.empty()) shown.emplace_back(cause.symptom, cause.symptom_line);
  const auto known = std::ranges::find_if(entries_, [&](const Entry& each) {
    const bool any_rule = !cause.name.empty() && cause.name == each.cause.name && cause.name.front() == '*';
    if (any_rule) return true;
    if (each.report.rule != report.rule) return false;
    return each.report.ptx_line == report.ptx_line || each.shows(report.rule, report.ptx_line) ||
           (cause.statement != 0 && cause.statement == each.cause.statement) ||
           (!cause.name.empty() && cause.name == each.cause.name);
  });
  if (known != entries_.end()) {
    known->report.count += report.count;
    for (auto& each : shown) {
      if (!known->shows(each.first, each.second)) known->shown.push_back(std::move(each));
    }
    return;
  }
  if (entries_.size() >= max_entries && report.rule != "report-limit") {
    entries_.back().report.count += report.count;
    return;
  }
  auto where = entries_.end();
  if (cause.leads) {
    // A wrong parity comes first: it makes threads arrive too often.
    const auto last = std::find_if(entries_.rbegin(), entries_.rend(),
                                   [](const Entry& each) { return each.report.rule == "mbarrier.parity"; });
    where = last.base();
  }
  const std::uint32_t other_line = cause.other_line;
  entries_.insert(where, {std::move(report), other_line, std::move(cause), std::move(shown)});
}

/// Merges reports of one missing barrier. After each merge the search starts again, because positions change.
void Reports::merge_related() {
  // First: a read of unwritten memory, and a race in which the write came after that read. They become one
  // report, whose text is Cause::replacement.
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!entries_[i].cause.replacement) continue;
    const std::uint32_t read = entries_[i].cause.replacement->ptx_line;
    const auto unwritten = std::ranges::find_if(entries_, [&](const Entry& each) {
      return each.shows("store.uninitialised", read) || each.shows("shared.uninitialised", read);
    });
    if (unwritten == entries_.end()) continue;
    const auto at = static_cast<std::size_t>(unwritten - entries_.begin());
    Entry lead = std::move(entries_[i]);
    lead.cause.replacement->count = lead.report.count + unwritten->report.count;
    lead.report = std::move(*lead.cause.replacement);
    lead.cause.replacement.reset();
    lead.other_line = 0;
    lead.shown = {{lead.report.rule, lead.report.ptx_line}};
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(std::max(i, at)));
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(std::min(i, at)));
    // Merge further reports of the same read and its writers.
    std::erase_if(entries_, [&](const Entry& each) {
      const bool same = each.cause.replacement && each.cause.replacement->ptx_line == read;
      if (same) lead.report.count += each.report.count;
      return same;
    });
    const std::size_t first = std::min({i, at, entries_.size()});
    entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(first), std::move(lead));
    i = static_cast<std::size_t>(-1);
  }
  // Then: a race, and a report of another rule that describes the same mistake.
  const auto fold = [&](std::size_t into, std::size_t from) {
    entries_[into].report.count += entries_[from].report.count;
    if (from < into) std::swap(entries_[into], entries_[from]);
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(std::max(into, from)));
  };
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    const Entry& race = entries_[i];
    if (!race.is_race()) continue;
    const auto same = std::ranges::find_if(entries_, [&](const Entry& each) {
      // A read of unwritten memory, and a race of the same read with a write.
      const bool read =
          race.report.rule == "race.shared-write-read" &&
          (each.report.rule == "shared.uninitialised" || each.report.rule == "store.uninitialised");
      return read && each.shows(each.report.rule, race.report.ptx_line);
    });
    if (same != entries_.end()) {
      fold(i, static_cast<std::size_t>(same - entries_.begin()));
      i = static_cast<std::size_t>(-1);
      continue;
    }
    const auto overwritten = std::ranges::find_if(entries_, [&](const Entry& each) {
      return each.report.rule == "shared.overwritten-before-store-read" && each.has_same_lines_as(race);
    });
    if (overwritten == entries_.end()) continue;
    const auto first = static_cast<std::size_t>(overwritten - entries_.begin());
    fold(std::min(first, i), std::max(first, i));
    i = static_cast<std::size_t>(-1);
  }
}

Report Reports::finished(Entry entry) {
  std::vector<std::uint32_t> lines;
  for (const auto& [rule, line] : entry.shown) {
    if (line != entry.report.ptx_line && line != entry.other_line && line != 0) lines.push_back(line);
  }
  check::add_lines(entry.report, std::move(lines));
  return std::move(entry.report);
}

bool Reports::count(std::string_view rule, std::uint32_t ptx_line) {
  const auto known =
      std::ranges::find_if(entries_, [&](const Entry& each) { return each.shows(rule, ptx_line); });
  if (known == entries_.end()) return false;
  ++known->report.count;
  return true;
}

bool Reports::count_repeat(std::string_view rule, std::uint32_t ptx_line) {
  const std::lock_guard lock(mutex_);
  return count(rule, ptx_line);
}

void Reports::explain_stop(std::string_view rule) {
  const std::lock_guard lock(mutex_);
  const auto last = std::find_if(entries_.rbegin(), entries_.rend(),
                                 [&](const Entry& each) { return each.report.rule == rule; });
  if (last == entries_.rend() || std::exchange(last->explains_stop, true)) return;
  last->report.found += "; the rule is allowed, but the launch cannot go on after this";
}

void Reports::drop_allowed(const std::vector<std::string>& allowed, bool stopped) {
  const std::lock_guard lock(mutex_);
  const auto is_allowed = [&](const Entry& each) {
    return std::ranges::find(allowed, each.report.rule) != allowed.end();
  };
  const bool needs_reason = stopped && std::ranges::all_of(entries_, is_allowed);
  const bool has_reason = std::ranges::any_of(entries_, &Entry::explains_stop);
  std::erase_if(entries_, [&](const Entry& each) {
    return is_allowed(each) && !(needs_reason && (each.explains_stop || !has_reason));
  });
}

std::vector<Report> Reports::take() {
  const std::lock_guard lock(mutex_);
  merge_related();
  for (auto race = entries_.end(); race != entries_.begin();) {
    --race;
    if (!race->is_race()) continue;
    // A wait that ends too early also shows as a read of bytes in flight.
    const auto shows_in_flight = [&](const Entry& each) {
      const std::uint32_t line = each.cause.symptom_line;
      return each.cause.symptom.find(".in-flight-") != std::string::npos &&
             (line == race->report.ptx_line || line == race->other_line);
    };
    const auto more = std::find_if(race, entries_.end(), [&](const Entry& each) {
      return shows_in_flight(each) || (each.is_in_flight() && each.has_same_lines_as(*race));
    });
    if (more != entries_.end()) std::rotate(race, race + 1, more + 1);
  }
  std::vector<Report> reports;
  for (Entry& entry : entries_) reports.push_back(finished(std::move(entry)));
  entries_.clear();
  return reports;
}

}  // namespace sim
TMAJIT_END
