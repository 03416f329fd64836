/// Which copy in flight an access of shared memory meets: for reports.
#include "sim/cta.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace sim {
namespace {

struct Range {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

std::vector<Range> pieces_of(const Copy& copy) {
  std::vector<Range> pieces;
  for_each_shared(copy, [&](std::uint32_t at, std::uint32_t bytes) { pieces.push_back({at, at + bytes}); });
  return pieces;
}

bool meet(const std::vector<Range>& some, const std::vector<Range>& others) {
  return std::ranges::any_of(some, [&](const Range& one) {
    return std::ranges::any_of(
        others, [&](const Range& other) { return one.begin < other.end && other.begin < one.end; });
  });
}

}  // namespace

std::string range_text(std::uint32_t offset, std::uint32_t bytes) {
  return fmt::format("{:#x} to {:#x}", offset + shared_base, offset + shared_base + bytes - 1);
}

std::string range_text(const Copy& copy) {
  return range_text(copy.shared, copy.tensor ? copy.tile().span() : copy.bytes);
}

std::string Engine::whom_it_meets(const Copy& access, Shadow state) const {
  const std::vector<Range> touched = pieces_of(access);
  const auto text = [&](std::string_view what, const Copy& copy, std::string_view way) {
    return fmt::format(", the {} at PTX line {} {} {}", what, cta_.program.place[copy.place].line, way,
                       range_text(copy));
  };
  if (state == Shadow::loading) {
    for (const Copy& load : loads_) {
      if (meet(pieces_of(load), touched)) return text("one", load, "into");
    }
    const SmallCopy* const small = cta_.small_copies.writes_into(touched.front().begin, touched.back().end);
    if (small == nullptr) return {};
    return fmt::format(", the cp.async at PTX line {} into {}", cta_.program.place[small->place].line,
                       range_text(small->shared, small->bytes));
  }
  for (const Store& store : stores_) {
    if (!store.read && meet(pieces_of(store.copy), touched)) return text("one", store.copy, "from");
  }
  for (Copy copy : reads_) {
    copy.shared = copy.source_offset;
    if (meet(pieces_of(copy), touched)) return text("copy to a peer", copy, "from");
  }
  return {};
}

const SmallCopy* SmallCopies::writes_into(std::uint32_t begin, std::uint32_t end) const {
  const auto found = std::ranges::find_if(
      pending_, [&](const SmallCopy& each) { return each.shared < end && begin < each.shared + each.bytes; });
  return found == pending_.end() ? nullptr : &*found;
}

}  // namespace sim
TMAJIT_END
