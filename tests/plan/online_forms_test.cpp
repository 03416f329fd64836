// The pairs of reductions that one pass over a row computes.
#include "families/rowwise/online_forms.hpp"

#include "families/rowwise/row_source.hpp"

#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

/// The pairs as "m+s by MaxExpSum", for the destination y or y0.
std::string pairs(std::string_view text, std::uint32_t sources = 1, std::uint32_t real_sources = ~0U) {
  const std::vector<RowStep> steps = parse_row_steps(text, sources);
  const std::vector<std::uint32_t> results{0};
  std::string out;
  for (const OnlinePair& pair : online_pairs(steps, needed_steps(steps, results), real_sources)) {
    out += (out.empty() ? "" : ", ") + steps[pair.first].name + "+" + steps[pair.second].name + " by " +
           std::string(pair.reducer) + (pair.is_mean ? " / n" : "");
  }
  return out;
}

}  // namespace

TEST_CASE("a maximum and the sum of exponentials of the differences from it are a pair") {
  CHECK(pairs("m = max(x); s = sum(expf(x - m)); y = x / s") == "m+s by MaxExpSum");
  CHECK(pairs("m = max(x); s = sum(fast_exp(x0-m)); y = x / s") == "m+s by FastMaxExpSum");
  CHECK(pairs("m = max(x); s = mean(expf(x - m)); y = x / s") == "m+s by MaxExpSum / n");
  CHECK(pairs("m = max(x); c = x - m; e = (expf((c))); s = sum(e); y = e / s") == "m+s by MaxExpSum");
  CHECK(pairs("a = x0 * x1; m = max(a); s = sum(exp(a - m)); y = s", 2) == "m+s by MaxExpSum");
  CHECK(pairs("m = max(x0 + x1); s = sum(expf((x0 + x1) - m)); y = s", 2) == "m+s by MaxExpSum");
  CHECK(pairs("m = max(x0); s = sum(expf(x0 - m)); k = max(x1); t = sum(expf(x1 - k)); y = s + t", 2) ==
        "m+s by MaxExpSum, k+t by MaxExpSum");
}

TEST_CASE("a mean and the squares of the differences from it are a pair") {
  CHECK(pairs("u = mean(x); c = x - u; y = c * rsqrtf(mean(c * c))") == "u+mean_2 by MeanSquares / n");
  CHECK(pairs("u = mean(x); v = sum((x - u) * (x - u)); y = v") == "u+v by MeanSquares");
}

TEST_CASE("other reductions are no pairs") {
  CHECK(pairs("m = max(x); s = sum(x); y = m + s").empty());
  CHECK(pairs("m = max(x); s = sum(expf(x - m)); y = s", 1, 0).empty());  // differences of integers wrap
  CHECK(pairs("m = max((int)x); s = sum(expf((int)x - m)); y = s").empty());
  CHECK(pairs("m = min(x); s = sum(expf(x - m)); y = s").empty());
  CHECK(pairs("m = max(x); s = sum(expf(m - x)); y = s").empty());
  CHECK(pairs("m = max(x0); s = sum(expf(x1 - m)); y = s", 2).empty());
  CHECK(pairs("m = max(x); s = max(expf(x - m)); y = s").empty());
  CHECK(pairs("m = max(x) + 1; s = sum(expf(x - m)); y = s").empty());
  CHECK(pairs("m = max(x > 0 ? x : 1); s = sum(expf(x > 0 ? x : 1 - m)); y = s").empty());
  CHECK(pairs("m = max(x); u = mean(x); s = sum((x - u) * (x - m)); y = s").empty());
  // A maximum is in one pair: a second sum of its differences takes a separate pass.
  CHECK(pairs("m = max(x); s = sum(expf(x - m)); t = sum(expf(x - m)); y = s + t") == "m+s by MaxExpSum");
  CHECK(pairs("m = max(x); s = sum(expf(x - m)); y0 = m; y1 = s").empty());  // y0 does not need s
}
