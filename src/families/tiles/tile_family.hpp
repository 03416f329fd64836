#pragma once

#include "families/tiles/tile_spec.hpp"

TMAJIT_BEGIN

/// What families of tiles have in common. Each of them adds its traits, its template's name and how its entry
/// is called.
class TileFamily final : public Family {
 public:
  TileFamily(const TileTraits& traits, std::string_view summary, std::string_view why, std::string_view call);

  [[nodiscard]] const TileTraits& traits() const noexcept { return traits_; }

  void add_candidates(const Problem& problem, std::vector<Candidate>& candidates) const override;
  [[nodiscard]] Footprint footprint(const Candidate& candidate, const Problem& problem) const override;
  [[nodiscard]] KernelChoice choice(const Candidate& candidate) const override;
  [[nodiscard]] std::string describe(const KernelChoice& choice) const override;
  [[nodiscard]] std::string why(const Candidate& candidate, const Problem& problem) const override;
  void bind(const Candidate& candidate, const Problem& problem, ParameterBlock& parameters,
            LaunchShape& shape) const override;
  [[nodiscard]] SourceParts source(const Candidate& candidate, std::string_view expression) const override;

  /// The kernel of a tile of the caller's choice; see tiles.hpp.
  [[nodiscard]] KernelPlan plan(const TileRequest& request) const;
  [[nodiscard]] TileSpec spec_of(const TileRequest& request) const;

 private:
  [[nodiscard]] TileSpec spec_of(const Candidate& candidate, std::string_view expression) const;

  const TileTraits& traits_;
  std::string_view why_;
  std::string_view call_;
};

/// The family of tiles that makes kernels for an operation or has that name. Throws Error{invalid_argument}
/// that lists them.
[[nodiscard]] const TileFamily& tile_family_for(std::string_view operation);

TMAJIT_END
