/// Mistakes of CTAs that work together, made in the sources of our own kernels: the simulated device names
/// each, whatever the order in which things happen.
#include "sim/support.hpp"

#include <tmajit/codegen.hpp>
#include <tmajit/plan.hpp>

#include <algorithm>
#include <optional>

using namespace tmajit;
using namespace tests;

namespace {

/// A move, and the family whose kernel of clusters of 4 does it.
struct ClusterMove {
  const char* family;
  TensorView destination;
  TensorView source;
};

/// What becomes of which part of a source.
using Change = std::pair<std::string, std::string>;

struct Mutant {
  const char* name;
  std::vector<Change> changes;
  std::vector<std::string> rules;  ///< one of them must be the first report's
};

/// Its plan for a chip so small that each cluster does many tiles.
KernelPlan plan_of(const ClusterMove& move, DevicePtr destination, DevicePtr source) {
  Chip chip;
  chip.sm_count = 1;
  const Move whole{.destination = {move.destination, destination}, .sources = {{move.source, source}}};
  for (const KernelPlan& plan : plan_candidates(whole, {.chip = chip, .family = move.family})) {
    if (plan.choice().cluster == 4) return plan;
  }
  throw Error(ErrorCode::internal, "there is no kernel of clusters of 4");
}

Artifact artifact_of(const ClusterMove& move, const std::vector<Change>& changes) {
  Source changed = source(plan_of(move, 0x1000, 0x100000000));
  for (const auto& [from, to] : changes) {
    const std::size_t at = changed.text.rfind(from);
    INFO(from);
    REQUIRE(at != std::string::npos);
    changed.text.replace(at, from.size(), to);
  }
  return compile(changed);
}

/// Launches it as the plan's kernel.
void launch(SimDevice& sim, const Artifact& artifact, const KernelPlan& plan) {
  std::vector<std::byte> bytes(plan.parameter_bytes().begin(), plan.parameter_bytes().end());
  std::vector<void*> parameters;
  for (const Parameter& parameter : plan.parameters()) {
    parameters.push_back(&bytes[parameter.offset]);
    if (!parameter.map) continue;
    const DevicePtr address = plan.operand_address(static_cast<std::uint32_t>(parameter.map_of));
    const EncodedTensorMap map = sim.maps().encode(*parameter.map, address);
    std::memcpy(parameters.back(), &map, sizeof map);
  }
  const auto kernel = sim.kernels().load(artifact);
  kernel->allow_shared_bytes(plan.launch_shape().shared_bytes);
  kernel->launch(plan.launch_shape(), parameters, nullptr);
}

std::vector<Report> run(const ClusterMove& move, const Artifact& artifact, SimOptions::Mode mode,
                        std::uint64_t seed) {
  const auto sim =
      make_sim_device({.mode = mode, .seed = seed, .threads = 1, .instruction_limit = 2'000'000});
  const Buffer in(sim, move.source.span_bytes());
  const Buffer out(sim, move.destination.span_bytes());
  sim->memory().fill(in.address(), std::byte{1}, move.source.span_bytes(), nullptr);
  launch(*sim, artifact, plan_of(move, out.address(), in.address()));
  try {
    sim->streams().synchronize(nullptr);
  } catch (const Error&) {  // it holds the reports
  }
  return sim->reports();
}

void check(const ClusterMove& move, const std::vector<Mutant>& mutants) {
  for (const Mutant& mutant : mutants) {
    const Artifact artifact = artifact_of(move, mutant.changes);
    for (const auto mode : {SimOptions::Mode::late, SimOptions::Mode::early, SimOptions::Mode::random}) {
      for (const std::uint64_t seed : {1, 8}) {
        const std::vector<Report> reports = run(move, artifact, mode, seed);
        std::string texts;
        for (const Report& report : reports) texts += report.text() + "\n";
        INFO(move.family << ": " << mutant.name << ", mode " << static_cast<int>(mode) << ", seed " << seed
                         << "\n"
                         << texts);
        if (mutant.rules.empty()) {
          CHECK(reports.empty());
        } else {
          REQUIRE_FALSE(reports.empty());
          CHECK(std::ranges::find(mutant.rules, reports[0].rule) != mutant.rules.end());
        }
      }
    }
  }
}

/// In a cluster every warp releases a stage to all CTAs.
constexpr const char* release = "consumer.release_to(lane, lane < cluster)";

}  // namespace

TEST_CASE("mutants of multicast are named") {
  const ClusterMove move{.family = "multicast",
                         .destination = TensorView::contiguous(ElementType::f32, {4, 49152}),
                         .source = TensorView::strided(ElementType::f32, {4, 49152}, {0, 1})};
  REQUIRE(plan_of(move, 0x1000, 0x100000000).launch_shape().grid[0] == 8);
  const Change own{release, "consumer.release_to(cta, lane == 0)"};
  check(
      move,
      {{"as it is", {}, {}},
       {"the CTAs synchronise, the cluster does not",
        {{"ptx::sync_cluster()", "__syncthreads()"}},
        {"shared.peer-not-started", "mbarrier.uninitialised", "race.mbarrier"}},
       {"a part goes to too few", {{"all_ctas<cluster>()", "CtaMask{0x7}"}}, {"deadlock"}},
       {"a part goes to more than there are", {{"all_ctas<cluster>()", "CtaMask{0xff}"}}, {"multicast.mask"}},
       {"a CTA expects what it asks for, not what it gets",
        {{"acquire(load_bytes)", "acquire(load_bytes / cluster)"}},
        {"mbarrier.expected-bytes"}},
       {"all parts go to one place",
        {{"cta * Source<i>::loads + k", "k"}},
        {"load.overlap", "race.shared-write-write"}},
       {"a stage is released to its own CTA alone, which waits for all", {own}, {"deadlock"}},
       {"a stage is released to its own CTA alone, which waits for no other",
        {own, {".init(1, cluster * warps", ".init(1, warps"}},
        {"race.shared-read-write", "race.shared-write-write", "load.overlap", "mbarrier.arrivals"}},
       {"a warp releases a stage that its threads still read",
        {{"    __syncwarp();\n", ""}},
        {"race.shared-read-write"}},
       {"a CTA ends while others still release to it", {{"producer.drain();", ""}}, {"exit.peer-writes"}}});
}
