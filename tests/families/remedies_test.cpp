#include "spec/remedies.hpp"

#include "families/tiles.hpp"
#include "reference/random_maps.hpp"
#include "spec/dims.hpp"

#include <algorithm>
#include <map>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;
using namespace reference;

namespace {

constexpr std::array element_types{ElementType::u8, ElementType::f16, ElementType::i32, ElementType::f32,
                                   ElementType::f64};

/// A request with storage for the lists that its TileOptions refer to.
struct OwnedRequest {
  TileRequest request;
  std::vector<std::uint32_t> box;
  std::vector<std::uint32_t> element_strides;

  /// The request, valid while this object lives.
  [[nodiscard]] TileRequest complete_request() const {
    TileRequest result = request;
    result.tiles.box = box;
    result.tiles.element_strides = element_strides;
    return result;
  }
  [[nodiscard]] std::uint32_t rank() const { return request.sources.front().view.rank; }
};

std::uint32_t one_number(Random& random, std::initializer_list<std::uint32_t> numbers) {
  return one_of(random, numbers);
}

/// A legal request: dense tensors whose rows are multiples of 16 bytes, and boxes that divide them.
OwnedRequest legal_request(Random& random) {
  static constexpr std::array families{"copy", "map", "bulk", "snapshot"};
  OwnedRequest owned;
  TileRequest& request = owned.request;
  request.family = one_of(random, families);
  const bool computes = request.family == "map" || request.family == "bulk";
  if (computes) request.expression = "x";
  const auto rank = request.family == "bulk" ? 1 : between(random, 1, 5);
  std::vector<std::uint64_t> shape(rank, 2);
  shape.back() = 64;
  if (rank > 1) shape[rank - 2] = between(random, 1, 40);
  owned.box.assign(rank, 1);
  owned.box.back() = 32;
  const auto inputs = request.family == "map" ? between(random, 1, 3) : 1;
  for (std::uint64_t i = 0; i < inputs; ++i)
    request.sources.push_back({TensorView::contiguous(one_of(random, element_types), shape)});
  request.destination.view.type = computes ? one_of(random, element_types) : request.sources[0].view.type;
  request.destination.view = destination_view(owned.complete_request());
  return owned;
}

/// The view with `count` more dimensions of extent 1 before its own.
TensorView with_outer(const TensorView& view, std::uint32_t count) {
  std::vector<std::uint64_t> shape(count, 1);
  std::vector<std::int64_t> strides(count, 64);
  shape.insert(shape.end(), view.shape.begin(), view.shape.begin() + view.rank);
  strides.insert(strides.end(), view.strides.begin(), view.strides.begin() + view.rank);
  return TensorView::strided(view.type, shape, strides);
}

/// The view without its first `count` dimensions.
TensorView without_outer(const TensorView& view, std::uint32_t count) {
  return TensorView::strided(view.type, std::span(view.shape).subspan(count, view.rank - count),
                             std::span(view.strides).subspan(count, view.rank - count));
}

std::vector<Tensor*> tensors_of(OwnedRequest& owned) {
  std::vector<Tensor*> tensors{&owned.request.destination};
  for (Tensor& source : owned.request.sources) tensors.push_back(&source);
  return tensors;
}

/// Sets one member of the request, or of one of its views, to a random value, legal or not.
void change(Random& random, OwnedRequest& owned) {
  TileOptions& tiles = owned.request.tiles;
  auto tensors = tensors_of(owned);
  TensorView& view = tensors[between(random, 0, tensors.size() - 1)]->view;
  const auto d = static_cast<std::uint32_t>(between(random, 0, std::max(view.rank, 1U) - 1));
  switch (between(random, 0, 13)) {
    case 0: tiles.stages = one_number(random, {1, 2, 31, 33, 255, 256, 300}); break;
    case 1: tiles.output_stages = one_number(random, {1, 2, 8, 9, 255, 4000000000}); break;
    case 2: tiles.warps = one_number(random, {1, 2, 16, 17, 255, 256, 100000}); break;
    case 3: tiles.ctas_per_sm = one_number(random, {1, 2, 8, 16, 17, 255, 70000}); break;
    case 4: tiles.tiles_per_cta = one_number(random, {0, 1, 255, 256}); break;
    case 5: tiles.swizzle = static_cast<Swizzle>(between(random, 0, 3)); break;
    case 6: tiles.oob_fill = OobFill::nan; break;
    case 7: tiles.interleave = static_cast<Interleave>(between(random, 0, 2)); break;
    case 8:
    case 9:
      for (auto& extent : owned.box)
        if (one_in(random, 2))
          extent = one_number(random, {0, 1, 3, 4, 5, 7, 32, 100, 255, 256, 257, 300, 1000});
      break;
    case 10:
      owned.element_strides.assign(owned.rank(), 1);
      for (auto& stride : owned.element_strides)
        if (one_in(random, 2)) stride = one_number(random, {0, 1, 2, 3, 7, 8, 9, 255, 256, 1000});
      break;
    case 11:
      if (view.rank > 0) view.strides[d] = static_cast<std::int64_t>(between(random, 0, 300));
      if (view.rank > 0 && one_in(random, 8)) view.strides[d] = 1LL << 41;
      break;
    case 12:
      if (view.rank > 0)
        view.shape[d] = one_of(random, std::array<std::uint64_t, 5>{0, 1, 63, (1ULL << 31) + 1, 1ULL << 33});
      break;
    default: view.type = one_of(random, element_types);
  }
}

/// Changes the rank to 0 or 6, which no tensor map has.
void change_rank(Random& random, OwnedRequest& owned) {
  const std::uint32_t rank = owned.rank();
  if (one_in(random, 2)) {
    for (Tensor* tensor : tensors_of(owned)) tensor->view = without_outer(tensor->view, tensor->view.rank);
    owned.box.clear();
    owned.element_strides.clear();
    return;
  }
  const std::uint32_t more = 6 - rank;
  for (Tensor* tensor : tensors_of(owned)) tensor->view = with_outer(tensor->view, more);
  owned.box.insert(owned.box.begin(), more, 1);
  if (!owned.element_strides.empty()) owned.element_strides.insert(owned.element_strides.begin(), more, 1);
}

/// The view of the operand that a violation's subject names first; the destination's if it names none.
TensorView& view_of(OwnedRequest& owned, const std::string& subject) {
  if (!subject.starts_with("input")) return owned.request.destination.view;
  const auto numbers = numbers_of(subject.substr(0, subject.find(':')));
  return owned.request.sources.at(numbers.empty() ? 0 : numbers[0]).view;
}

void set_rank(OwnedRequest& owned, std::uint32_t rank) {
  for (Tensor* tensor : tensors_of(owned)) {
    TensorView& view = tensor->view;
    view = view.rank > rank ? without_outer(view, view.rank - rank) : with_outer(view, rank - view.rank);
  }
  const auto fit = [&](std::vector<std::uint32_t>& list) {
    if (!list.empty()) list.erase(list.begin(), list.end() - rank);
  };
  fit(owned.box);
  fit(owned.element_strides);
}

void set_type(OwnedRequest& owned, const Violation& violation) {
  view_of(owned, violation.subject).type =
      parse<ElementType>(violation.legal.substr(0, violation.legal.find_first_of(", ")));
}

/// Applies a remedy to the request. Returns false if the remedy needs another kind of request.
bool apply(OwnedRequest& owned, const Violation& violation, const Remedy& remedy) {
  TileOptions& tiles = owned.request.tiles;
  TensorView& view = view_of(owned, violation.subject);
  const auto number = remedy.numbers.empty() ? 0 : remedy.numbers[0];
  const auto number_u32 = static_cast<std::uint32_t>(number);
  if (remedy.field == "box" || remedy.field == "tile") {
    if (owned.box.empty()) owned.box.assign(owned.rank(), 1);
    if (remedy.index) {
      owned.box.at(*remedy.index) = number_u32;
    } else {
      std::ranges::transform(remedy.numbers,
                             owned.box.end() - static_cast<std::ptrdiff_t>(remedy.numbers.size()),
                             [](std::uint64_t extent) { return static_cast<std::uint32_t>(extent); });
      tiles.stages = static_cast<std::uint32_t>(*remedy.stages);
    }
  } else if (remedy.field == "element_strides") {
    owned.element_strides.at(*remedy.index) = number_u32;
  } else if (remedy.field == "stages") {
    tiles.stages = number_u32;
  } else if (remedy.field == "output_stages") {
    tiles.output_stages = number_u32;
  } else if (remedy.field == "warps") {
    tiles.warps = number_u32;
  } else if (remedy.field == "ctas_per_sm") {
    tiles.ctas_per_sm = number_u32;
  } else if (remedy.field == "tiles_per_cta") {
    tiles.tiles_per_cta = number_u32;
  } else if (remedy.field == "rank") {
    set_rank(owned, number_u32);
  } else if (remedy.field == "swizzle") {
    tiles.swizzle = parse<Swizzle>(remedy.word);
  } else if (remedy.field == "interleave") {
    tiles.interleave = parse<Interleave>(remedy.word);
  } else if (remedy.field == "oob-fill") {
    tiles.oob_fill = parse<OobFill>(remedy.word);
  } else if (remedy.field == "strides" && remedy.index) {
    view.strides.at(*remedy.index) =
        static_cast<std::int64_t>(remedy.bytes ? number / size_of(view.type) : number);
  } else if (remedy.field == "strides") {
    std::ranges::copy(remedy.numbers, view.strides.begin());
  } else if (remedy.field == "shape" && remedy.index) {
    view.shape.at(*remedy.index) = number;
  } else if (remedy.field == "shape") {
    view = dense_view(violation.legal.starts_with("u8") ? ElementType::u8 : view.type, remedy.numbers);
  } else if (remedy.field == "rows") {
    if (owned.rank() == 1) return false;
    std::fill(owned.box.begin(), owned.box.end() - 1, 1);
    owned.box.front() = static_cast<std::uint32_t>(std::min<std::uint64_t>(number, 256));
  } else {
    return false;
  }
  return true;
}

bool still_broken(const OwnedRequest& owned, const Violation& violation) {
  return std::ranges::any_of(validate(owned.complete_request()), [&](const Violation& other) {
    // An output that must match several inputs has a violation for each input; they differ in `need`.
    return other.rule == violation.rule && other.subject == violation.subject && other.need == violation.need;
  });
}

}  // namespace

TEST_CASE("a tile's rule is no longer broken once the value that its violation names as legal is set") {
  const auto seed_used = seed(6);
  Random random(seed_used);
  INFO("TMAJIT_SEED=" << seed_used);
  std::map<std::string, int> applied_to;
  for (int i = 0; i < 12000; ++i) {
    OwnedRequest owned = legal_request(random);
    {
      CAPTURE(owned.request.family, owned.box);
      REQUIRE(rules(validate(owned.complete_request())) == Rules{});
    }
    for (auto changes = between(random, 1, 4); changes > 0; --changes) change(random, owned);
    if (one_in(random, 12) && owned.request.family != "bulk") change_rank(random, owned);
    for (const auto& violation : validate(owned.complete_request())) {
      CAPTURE(owned.request.family, owned.rank(), owned.box, owned.element_strides,
              owned.request.tiles.stages, owned.request.tiles.ctas_per_sm, owned.request.tiles.warps);
      CAPTURE(violation.rule, violation.subject, violation.found, violation.legal);
      if (violation.rule == "copy.type") {
        OwnedRequest after = owned;
        set_type(after, violation);
        REQUIRE_FALSE(still_broken(after, violation));
        ++applied_to[violation.rule];
      }
      for (const Remedy& remedy : remedies(violation)) {
        OwnedRequest after = owned;
        if (!apply(after, violation, remedy)) continue;
        CAPTURE(remedy.field, after.box);
        REQUIRE_FALSE(still_broken(after, violation));
        ++applied_to[violation.rule];
      }
    }
  }
  for (const char* rule : {"rank.range",
                           "stages.range",
                           "output-stages.range",
                           "warps.range",
                           "ctas-per-sm.range",
                           "tiles-per-cta.range",
                           "box.range",
                           "box.inner-bytes",
                           "box.swizzle",
                           "box.bytes",
                           "box.shared-bytes",
                           "element-strides.range",
                           "element-strides.innermost",
                           "oob-fill.type",
                           "interleave.unsupported",
                           "shape.range",
                           "shape.coordinates",
                           "strides.multiple",
                           "strides.range",
                           "strides.innermost",
                           "view.shape",
                           "view.overlap",
                           "copy.type",
                           "snapshot.shape",
                           "chunk.bytes",
                           "swizzle.bulk",
                           "shared.cta",
                           "shared.sm",
                           "threads.sm"}) {
    CAPTURE(rule);
    CHECK(applied_to[rule] > 0);
  }
}
