#include "files/files.hpp"
#include "plan/shipped_choices.hpp"
#include "plan/tuning_json.hpp"
#include "spec/fork_guard.hpp"

#include <tmajit/error.hpp>
#include <tmajit/tuning.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <set>
#include <shared_mutex>
#include <span>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

TMAJIT_BEGIN

/// The key of a choice: chip and shape. Choices are listed in the order of keys.
using KeyView = std::pair<std::string_view, ShapeClass>;

/// Orders choices by key. Transparent, so that a look-up constructs no std::string.
struct ByKey {
  using is_transparent = void;
  static KeyView key_of(const TunedChoice& choice) { return {choice.chip, choice.shape_class}; }
  static const KeyView& key_of(const KeyView& key) { return key; }
  bool operator()(const auto& a, const auto& b) const { return key_of(a) < key_of(b); }
};

namespace {

/// A choice takes about 200 bytes: a larger file is not a tuning file.
constexpr std::uint64_t max_file_bytes = 64U << 20;

/// The choice of the shape that is nearest to `wanted`, up to ShapeClass::near; null if there is none.
/// `begin` is the first of the kind's choices, if it has any. `shape_of` gives a choice's shape, or null for
/// one of another chip.
template <class Iterator, class ShapeOf>
auto nearest(Iterator begin, Iterator end, const ShapeClass& wanted, ShapeOf shape_of) -> decltype(&*begin) {
  decltype(&*begin) found = nullptr;
  double least = ShapeClass::near;
  for (Iterator at = begin; at != end; ++at) {
    const ShapeClass* const shape = shape_of(*at);
    if (shape == nullptr || !shape->is_of_kind(wanted)) break;
    const double distance = shape->distance(wanted);
    if (distance > least || (found != nullptr && distance == least)) continue;
    least = distance;
    found = &*at;
  }
  return found;
}

/// The shape of a kind that comes before all others of the kind.
ShapeClass first_of_kind(ShapeClass shape) {
  shape.extents = {};
  shape.length = 0;
  return shape;
}

const ShippedChoice* find_shipped(std::string_view chip, const ShapeClass& wanted) {
  const ShapeClass first = first_of_kind(wanted);
  for (const ShippedChoices& table : shipped_choices()) {
    if (table.chip != chip) continue;
    const auto begin = std::ranges::lower_bound(table.choices, first, {}, &ShippedChoice::shape_class);
    return nearest(begin, table.choices.end(), wanted,
                   [](const ShippedChoice& choice) { return &choice.shape_class; });
  }
  return nullptr;
}

TunedChoice tuned(std::string_view chip, const ShippedChoice& shipped) {
  return {.chip = std::string(chip),
          .shape_class = shipped.shape_class,
          .choice = kernel_choice(shipped),
          .microseconds = shipped.microseconds};
}

/// The permutation with index `number` in lexicographic order, as text: "3,2,1,0".
std::string order_text(std::uint32_t number, std::uint32_t rank) {
  std::vector<std::uint32_t> remaining(rank);
  std::iota(remaining.begin(), remaining.end(), 0);
  std::vector<std::uint32_t> digits;  // the index in `remaining` of each next dimension, in reverse
  for (std::uint32_t k = 1; k <= rank; ++k) {
    digits.push_back(number % k);
    number /= k;
  }
  std::vector<std::uint32_t> order;
  for (; !digits.empty(); digits.pop_back()) {
    order.push_back(remaining[digits.back()]);
    remaining.erase(remaining.begin() + digits.back());
  }
  return fmt::format("{}", fmt::join(order, ","));
}

}  // namespace

std::string ShapeClass::text() const {
  const std::size_t dimensions = std::min<std::size_t>(rank, extents.size());
  constexpr std::array accesses{"run", "repeat", "elements", "image", "number"};
  std::string text = fmt::format("{} {}B rank {}", family, element_bytes, rank);
  if (staggered) text += " staggered";
  for (std::size_t i = 0; i < sources && i < access.size(); ++i) {
    text += fmt::format(" {}:{}B", accesses.at(access[i] / 16 % accesses.size()), 1U << access[i] % 16U);
  }
  // Sources with the destination's order are omitted.
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] == 0) continue;
    text += i == 0 ? " order " : fmt::format(" order of x{} ", i);
    text += order_text(order[i], static_cast<std::uint32_t>(dimensions));
  }
  text += fmt::format(" extents {}", fmt::join(std::span(extents).first(dimensions), "x"));
  return length == 0 ? text : text + fmt::format(" length {}", length);
}

bool ShapeClass::is_of_kind(const ShapeClass& other) const noexcept {
  return first_of_kind(*this) == first_of_kind(other);
}

double ShapeClass::distance(const ShapeClass& other) const noexcept {
  if (!is_of_kind(other)) return std::numeric_limits<double>::infinity();
  double greatest = 0;
  const auto add = [&greatest](std::uint64_t a, std::uint64_t b) {
    if (a != b)
      greatest =
          std::max(greatest, std::abs(std::log2(static_cast<double>(a)) - std::log2(static_cast<double>(b))));
  };
  for (std::size_t d = 0; d < extents.size(); ++d) add(extents[d], other.extents[d]);
  add(length, other.length);
  return greatest;
}

struct TuningTable::State {
  mutable std::shared_mutex mutex;
  std::set<TunedChoice, ByKey> choices;
  bool has_shipped = false;  ///< whether find() falls back to the choices shipped with the library
  std::atomic<std::uint64_t> generation = 0;

  /// The choice of the nearest shape; null if there is none.
  [[nodiscard]] const TunedChoice* find(std::string_view chip, const ShapeClass& shape_class) const {
    const auto of_chip = choices.lower_bound(KeyView(chip, first_of_kind(shape_class)));
    return nearest(of_chip, choices.end(), shape_class, [chip](const TunedChoice& choice) {
      return choice.chip == chip ? &choice.shape_class : nullptr;
    });
  }
  void add(TunedChoice choice) {
    ++generation;
    choices.erase(choice);
    choices.insert(std::move(choice));
  }

  ForkGuard fork_guard{[this] { mutex.lock(); }, [this](ForkSide side) { release_after_fork(mutex, side); }};
};

TuningTable::TuningTable() : state_(std::make_unique<State>()) {}
TuningTable::~TuningTable() = default;
TuningTable::TuningTable(TuningTable&&) noexcept = default;
TuningTable& TuningTable::operator=(TuningTable&&) noexcept = default;

TuningTable TuningTable::shipped() {
  TuningTable table;
  table.state_->has_shipped = true;
  return table;
}

std::optional<TunedChoice> TuningTable::find(std::string_view chip, const ShapeClass& shape_class) const {
  {
    const std::shared_lock lock(state_->mutex);
    if (const TunedChoice* const found = state_->find(chip, shape_class)) return *found;
  }
  if (!state_->has_shipped) return std::nullopt;
  const ShippedChoice* const shipped = find_shipped(chip, shape_class);
  return shipped == nullptr ? std::nullopt : std::optional(tuned(chip, *shipped));
}

bool TuningTable::has_added(std::string_view chip, const ShapeClass& shape_class) const {
  const std::shared_lock lock(state_->mutex);
  return state_->find(chip, shape_class) != nullptr;
}

void TuningTable::add(const TunedChoice& choice) {
  const std::unique_lock lock(state_->mutex);
  state_->add(choice);
}

std::uint64_t TuningTable::generation() const noexcept {
  return state_->generation.load(std::memory_order_acquire);
}

std::vector<TunedChoice> TuningTable::all() const {
  const std::shared_lock lock(state_->mutex);
  std::set<TunedChoice, ByKey> all = state_->choices;
  if (state_->has_shipped) {
    for (const ShippedChoices& table : shipped_choices()) {
      for (const ShippedChoice& choice : table.choices) all.insert(tuned(table.chip, choice));
    }
  }
  return {all.begin(), all.end()};
}

std::string TuningTable::json() const {
  return format_tuning(all());
}

void TuningTable::add_json(std::string_view text, std::string_view label) {
  auto choices = parse_tuning(text, label);
  const std::unique_lock lock(state_->mutex);
  for (auto& choice : choices) state_->add(std::move(choice));
}

void TuningTable::load(const std::filesystem::path& file) {
  std::error_code error;
  const auto text = read_file(file, max_file_bytes, error);
  if (error == std::errc::no_such_file_or_directory) return;
  if (error) throw Error(ErrorCode::io, fmt::format("cannot read {}: {}", file.string(), error.message()));
  add_json(text, file.string());
}

void TuningTable::save(const std::filesystem::path& file) const {
  const auto folder = file.parent_path();
  const auto error = replace_file(folder.empty() ? "." : folder, file, json());
  if (error) throw Error(ErrorCode::io, fmt::format("cannot write {}: {}", file.string(), error.message()));
}

TMAJIT_END
