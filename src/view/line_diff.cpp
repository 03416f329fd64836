#include "view/line_diff.hpp"

#include <algorithm>
#include <map>

#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringRef.h>

TMAJIT_BEGIN
namespace view {
namespace {

/// A range of lines in each text.
struct Range {
  std::size_t left = 0, left_end = 0;
  std::size_t right = 0, right_end = 0;
};

using Numbers = std::vector<std::uint32_t>;  ///< a text: equal lines have equal numbers

class PatienceDiff {
 public:
  PatienceDiff(const Numbers& left, const Numbers& right) : left_(left), right_(right) {}

  std::vector<DiffRow> run() {
    // An explicit stack, since recursion could get too deep. The range that begins first is on top.
    std::vector<Range> open{{0, left_.size(), 0, right_.size()}};
    while (!open.empty()) {
      Range range = open.back();
      open.pop_back();
      take_equal_lines(range);
      const std::vector<DiffRow> anchors = anchors_of(range);
      if (anchors.empty()) {
        compare(range);
        continue;
      }
      Range rest{.left_end = range.left_end, .right_end = range.right_end};
      for (auto anchor = anchors.rbegin(); anchor != anchors.rend(); ++anchor) {
        rest.left = static_cast<std::size_t>(anchor->left);
        rest.right = static_cast<std::size_t>(anchor->right);
        open.push_back(rest);
        rest.left_end = rest.left;
        rest.right_end = rest.right;
      }
      rest.left = range.left;
      rest.right = range.right;
      open.push_back(rest);
    }
    return std::move(rows_);
  }

 private:
  /// Pairs the equal lines at the range's beginning, and removes them from the range.
  void take_equal_lines(Range& range) {
    while (range.left < range.left_end && range.right < range.right_end &&
           left_[range.left] == right_[range.right]) {
      rows_.push_back({static_cast<std::int32_t>(range.left++), static_cast<std::int32_t>(range.right++)});
    }
  }

  /// The longest common subsequence of the lines that occur exactly once in each text of the range.
  std::vector<DiffRow> anchors_of(const Range& range) const {
    struct Seen {
      std::size_t left_count = 0, left = 0;
      std::size_t right_count = 0, right = 0;
    };
    std::map<std::uint32_t, Seen> seen;
    for (std::size_t i = range.left; i < range.left_end; ++i) {
      Seen& line = seen[left_[i]];
      ++line.left_count;
      line.left = i;
    }
    for (std::size_t i = range.right; i < range.right_end; ++i) {
      Seen& line = seen[right_[i]];
      ++line.right_count;
      line.right = i;
    }
    std::vector<DiffRow> unique;
    for (std::size_t i = range.left; i < range.left_end; ++i) {
      const Seen& line = seen[left_[i]];
      if (line.left_count == 1 && line.right_count == 1)
        unique.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(line.right)});
    }
    return unique.empty() ? unique : longest_rising(unique);
  }

  /// The longest subsequence whose right indices rise.
  static std::vector<DiffRow> longest_rising(const std::vector<DiffRow>& pairs) {
    // tails[n]: the last pair of the subsequence of n + 1 pairs that ends with the smallest right index
    std::vector<std::size_t> tails;
    std::vector<std::size_t> previous(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto tail =
          std::lower_bound(tails.begin(), tails.end(), pairs[i].right,
                           [&](std::size_t pair, std::int32_t right) { return pairs[pair].right < right; });
      previous[i] = tail == tails.begin() ? pairs.size() : *(tail - 1);
      if (tail == tails.end()) {
        tails.push_back(i);
      } else {
        *tail = i;
      }
    }
    std::vector<DiffRow> rising;
    for (std::size_t at = tails.back(); at != pairs.size(); at = previous[at]) rising.push_back(pairs[at]);
    std::reverse(rising.begin(), rising.end());
    return rising;
  }

  /// Pairs as many lines of the range as possible, by the greedy algorithm of Myers ("An O(ND) Difference
  /// Algorithm and Its Variations", 1986). Pairs no lines of ranges that differ by more than `max_edits`.
  void compare(const Range& range) {
    constexpr std::int64_t max_edits = 2000;
    const auto left_count = static_cast<std::int64_t>(range.left_end - range.left);
    const auto right_count = static_cast<std::int64_t>(range.right_end - range.right);
    const std::int64_t limit = std::min(left_count + right_count, max_edits);
    std::vector<std::int64_t> reach(static_cast<std::size_t>(2 * limit + 3));  // left lines used, by diagonal
    const auto at = [&](std::int64_t diagonal) -> std::int64_t& {
      return reach[static_cast<std::size_t>(diagonal + limit + 1)];
    };
    std::vector<std::vector<std::int64_t>> history;  // reach of diagonals −edits … edits, before each step
    for (std::int64_t edits = 0; edits <= limit; ++edits) {
      history.emplace_back(&at(-edits - 1), &at(edits + 1) + 1);
      for (std::int64_t diagonal = -edits; diagonal <= edits; diagonal += 2) {
        const bool is_insertion =
            diagonal == -edits || (diagonal != edits && at(diagonal - 1) < at(diagonal + 1));
        std::int64_t left = is_insertion ? at(diagonal + 1) : at(diagonal - 1) + 1;
        while (left < left_count && left - diagonal < right_count &&
               left_[range.left + static_cast<std::size_t>(left)] ==
                   right_[range.right + static_cast<std::size_t>(left - diagonal)])
          ++left;
        at(diagonal) = left;
        if (left >= left_count && left - diagonal >= right_count) return retrace(range, history);
      }
    }
    separate(range);
  }

  /// Adds the rows of the shortest edit path. `history` has the reach before each number of edits.
  void retrace(const Range& range, const std::vector<std::vector<std::int64_t>>& history) {
    std::vector<DiffRow> path;
    auto left = static_cast<std::int64_t>(range.left_end - range.left);
    auto right = static_cast<std::int64_t>(range.right_end - range.right);
    const auto row = [&](bool has_left, bool has_right) {
      path.push_back(
          {has_left ? static_cast<std::int32_t>(range.left) + static_cast<std::int32_t>(left) : -1,
           has_right ? static_cast<std::int32_t>(range.right) + static_cast<std::int32_t>(right) : -1});
    };
    for (auto edits = static_cast<std::int64_t>(history.size()) - 1; edits >= 0; --edits) {
      const std::vector<std::int64_t>& reach = history[static_cast<std::size_t>(edits)];
      const auto at = [&](std::int64_t diagonal) {
        return reach[static_cast<std::size_t>(diagonal + edits + 1)];
      };
      const std::int64_t diagonal = left - right;
      const bool is_insertion =
          diagonal == -edits || (diagonal != edits && at(diagonal - 1) < at(diagonal + 1));
      const std::int64_t from = edits == 0 ? 0 : is_insertion ? at(diagonal + 1) : at(diagonal - 1);
      const std::int64_t begin = edits == 0 || is_insertion ? from : from + 1;
      while (left > begin) {
        --left, --right;
        row(true, true);
      }
      if (edits == 0) break;
      is_insertion ? --right : --left;
      row(!is_insertion, is_insertion);
    }
    rows_.insert(rows_.end(), path.rbegin(), path.rend());
  }

  /// Adds the range's lines unpaired.
  void separate(const Range& range) {
    for (std::size_t i = range.left; i < range.left_end; ++i)
      rows_.push_back({.left = static_cast<std::int32_t>(i)});
    for (std::size_t i = range.right; i < range.right_end; ++i)
      rows_.push_back({.right = static_cast<std::int32_t>(i)});
  }

  const Numbers& left_;
  const Numbers& right_;
  std::vector<DiffRow> rows_;
};

/// Copies a line. At the beginning of each word it calls take(rest, key), which may consume the front of
/// `rest`, append a substitute to `key`, and return true.
template <class Take>
std::string key_of(std::string_view line, const Take& take) {
  std::string key;
  bool in_word = false;
  for (llvm::StringRef rest(line.data(), line.size()); !rest.empty();) {
    if (!in_word && take(rest, key)) {
      in_word = false;
      continue;
    }
    in_word = llvm::isAlnum(rest.front()) || rest.front() == '_' || rest.front() == '.';
    key += rest.front();
    rest = rest.drop_front();
  }
  return key;
}

/// Consumes a word that consists of `prefix` and decimal digits, and appends only `prefix` to `key`.
bool take_numbered(llvm::StringRef& rest, llvm::StringRef prefix, std::string& key) {
  if (!std::string_view(rest).starts_with(prefix)) return false;
  const llvm::StringRef after_prefix = rest.drop_front(prefix.size());
  const llvm::StringRef after_digits = after_prefix.ltrim("0123456789");
  if (after_digits.size() == after_prefix.size()) return false;
  if (!after_digits.empty() && (llvm::isAlnum(after_digits.front()) || after_digits.front() == '_'))
    return false;
  key += prefix;
  rest = after_digits;
  return true;
}

/// Consumes a label, which has the number of its function and its own ($L__BB1_7), and appends only "_" to
/// `key`.
bool take_label(llvm::StringRef& rest, std::string& key) {
  llvm::StringRef label = rest;
  if (!label.consume_front("$L__BB")) return false;
  label = label.ltrim("0123456789");
  if (!take_numbered(label, "_", key)) return false;
  rest = label;
  return true;
}

}  // namespace

std::vector<DiffRow> diff(const std::vector<std::string>& left, const std::vector<std::string>& right) {
  std::map<std::string_view, std::uint32_t> known;
  const auto numbers = [&](const std::vector<std::string>& lines) {
    Numbers result;
    for (const std::string& line : lines)
      result.push_back(known.try_emplace(line, static_cast<std::uint32_t>(known.size())).first->second);
    return result;
  };
  const Numbers left_numbers = numbers(left);
  const Numbers right_numbers = numbers(right);
  return PatienceDiff(left_numbers, right_numbers).run();
}

std::string ptx_key(std::string_view line) {
  const auto text = llvm::StringRef(line.data(), line.size()).trim();
  if (std::string_view(text).starts_with(".loc")) return ".loc";
  if (std::string_view(text).starts_with(".reg ")) return text.split('<').first.str();
  if (std::string_view(text).starts_with(".b8 ") || std::string_view(text).starts_with(".b32 ") ||
      std::string_view(text).starts_with(".b64 "))
    return ".b";
  return key_of(line, [](llvm::StringRef& rest, std::string& key) {
    for (const llvm::StringRef prefix : {"%rs", "%rd", "%rq", "%r", "%fd", "%f", "%p", "%h"}) {
      if (take_numbered(rest, prefix, key)) return true;
    }
    return take_label(rest, key);
  });
}

std::string sass_key(std::string_view line) {
  return key_of(line, [](llvm::StringRef& rest, std::string& key) {
    for (const llvm::StringRef prefix : {"UR", "UP", "R", "P", "B", ".L_x_"}) {
      if (take_numbered(rest, prefix, key)) return true;
    }
    return false;
  });
}

}  // namespace view
TMAJIT_END
