#include "cache/files.hpp"
#include "plan/tuning_json.hpp"

#include <tmajit/error.hpp>
#include <tmajit/tuning.hpp>

#include <mutex>
#include <set>
#include <shared_mutex>
#include <tuple>
#include <utility>

#include <spdlog/fmt/fmt.h>

TMAJIT_BEGIN
namespace {

/// A choice takes about 200 bytes; a file of this size is none of ours.
constexpr std::uint64_t max_file_bytes = 64U << 20;

/// What tells choices apart, in the order in which they are listed: chip, class, version.
using KeyView = std::tuple<std::string_view, std::string_view, std::string_view>;

KeyView key_of(const TunedChoice& choice) {
  return {choice.chip, choice.shape_class, choice.version};
}

/// Orders choices by their key; looking one up makes no strings.
struct ByKey {
  using is_transparent = void;
  bool operator()(const TunedChoice& a, const TunedChoice& b) const { return key_of(a) < key_of(b); }
  bool operator()(const TunedChoice& a, const KeyView& b) const { return key_of(a) < b; }
  bool operator()(const KeyView& a, const TunedChoice& b) const { return a < key_of(b); }
};

}  // namespace

struct TuningTable::State {
  mutable std::shared_mutex mutex;
  std::set<TunedChoice, ByKey> choices;

  void add(TunedChoice choice) {
    const auto at = choices.find(choice);
    if (at == choices.end()) {
      choices.insert(std::move(choice));
      return;
    }
    auto node = choices.extract(at);
    node.value() = std::move(choice);
    choices.insert(std::move(node));
  }
};

TuningTable::TuningTable() : state_(std::make_unique<State>()) {}
TuningTable::~TuningTable() = default;
TuningTable::TuningTable(TuningTable&&) noexcept = default;
TuningTable& TuningTable::operator=(TuningTable&&) noexcept = default;

TuningTable TuningTable::shipped() {
  TuningTable table;
  table.add_json(shipped_tuning(), "the choices that come with tmajit");
  return table;
}

std::optional<TunedChoice> TuningTable::find(std::string_view chip, std::string_view shape_class) const {
  const std::shared_lock lock(state_->mutex);
  const auto found = state_->choices.find(KeyView(chip, shape_class, TMAJIT_VERSION_STRING));
  if (found == state_->choices.end()) return std::nullopt;
  return *found;
}

void TuningTable::add(const TunedChoice& choice) {
  const std::unique_lock lock(state_->mutex);
  state_->add(choice);
}

std::vector<TunedChoice> TuningTable::all() const {
  const std::shared_lock lock(state_->mutex);
  return {state_->choices.begin(), state_->choices.end()};
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
  const auto text = json();
  const auto folder = file.parent_path();
  std::error_code error;
  PendingFile pending(folder.empty() ? "." : folder, error);
  if (!error) pending.write(text, error);
  if (!error) pending.publish(file, error);
  if (error) throw Error(ErrorCode::io, fmt::format("cannot write {}: {}", file.string(), error.message()));
}

TMAJIT_END
