#pragma once

#include "tiles/tile_spec.hpp"

#include <array>

TMAJIT_BEGIN

struct TileChoice {
  PerDimension tile{};
  std::uint32_t stages = 0;
  std::uint32_t threads = 0;
  std::uint32_t ctas_per_sm = 0;
  std::uint32_t tiles_per_cta = 0;  ///< 0: a persistent grid
  static constexpr auto members() {
    return std::array{choice_box("tile", &TileChoice::tile), choice_number("stages", &TileChoice::stages),
                      choice_number("threads", &TileChoice::threads),
                      choice_number("ctas_per_sm", &TileChoice::ctas_per_sm),
                      choice_number("tiles_per_cta", &TileChoice::tiles_per_cta)};
  }
  [[nodiscard]] std::string text() const;
};

/// A family of tiles (tiles/tile_spec.hpp). Its instances differ in traits, texts and the function that the
/// kernel's entry calls.
class TileFamily final : public TypedFamily<TileFacts, TileChoice> {
 public:
  TileFamily(const TileTraits& traits, std::string_view summary, std::string_view why, std::string_view call);

  [[nodiscard]] const TileTraits& traits() const noexcept { return traits_; }

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override;
  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override;
  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& problem) const override;
  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override;
  [[nodiscard]] SourceParts source(const Candidate& candidate, std::string_view expression) const override;

 private:
  [[nodiscard]] Candidate candidate(const TileSpec& spec, const CanonicalNest& nest) const;
  [[nodiscard]] TileSpec spec_of(const Candidate& candidate, std::string_view expression) const;

  const TileTraits& traits_;
  std::string_view why_;
  std::string_view call_;
};

TMAJIT_END
