/// Edits of our own kernels that introduce protocol mistakes: each must be reported by its rule.
#include "sim/mutants.hpp"

#include <algorithm>

#include <catch2/matchers/catch_matchers_string.hpp>

namespace mutants_test {

using namespace tmajit;

namespace {

using tests::adjust;
using tests::Base;
using tests::drop;
using tests::drop_last;
using tests::Edit;
using tests::lines;
using tests::run;
using tests::swap;
using tests::twice;

struct Mutant {
  const char* name;
  Base kernel;
  Edit edit;
  std::vector<std::string> rules;  ///< the first report must be of one of them
};

const char* const tensor_load = "cp.async.bulk.tensor.2d.shared::cluster";
const char* const tensor_reduce = "cp.reduce.async.bulk.tensor.2d.global";
const char* const tensor_store = "cp.async.bulk.tensor.2d.global";
const char* const expect_tx = "mbarrier.arrive.expect_tx";
const char* const init = "mbarrier.init";
const char* const try_wait = "mbarrier.try_wait";

std::vector<Mutant> mutants() {
  using Rules = std::vector<std::string>;
  const Rules deadlock{"deadlock"};
  const Rules bytes{"mbarrier.expected-bytes"};
  const Rules in_flight{"shared.in-flight-read", "store.in-flight-read"};
  const Rules reuse{"load.before-store-read"};
  const auto no_wait = [](const std::string&) { return std::string("setp.eq.s32 done, 0, 0;"); };
  return {
      {"map without its proxy fence", Base::map, drop("fence.proxy.async"), {"store.missing-proxy-fence"}},
      {"bulk without its proxy fence", Base::bulk, drop("fence.proxy.async"), {"store.missing-proxy-fence"}},
      {"copy expects 16 bytes too many", Base::copy, adjust(expect_tx, 1, "16"), bytes},
      {"copy expects 16 bytes too few", Base::copy, adjust(expect_tx, 1, "-16"), bytes},
      {"map expects 16 bytes too many", Base::map, adjust(expect_tx, 1, "16"), bytes},
      {"map expects 16 bytes too few", Base::map, adjust(expect_tx, 1, "-16"), bytes},
      {"bulk expects 16 bytes too many", Base::bulk, adjust(expect_tx, 1, "16"), bytes},
      {"copy expects no bytes",
       Base::copy,
       swap(expect_tx, ".expect_tx", "", -1),
       {"deadlock", "mbarrier.arrivals", "mbarrier.early-phase", "store.in-flight-read"}},
      {"copy does not wait for its loads", Base::copy, lines(try_wait, no_wait), in_flight},
      {"map waits for nothing", Base::map, lines(try_wait, no_wait), {"shared.in-flight-read"}},
      {"map does not wait for its loads",
       Base::map,
       lines(try_wait, no_wait, 1),
       {"shared.in-flight-read", "mbarrier.arrivals"}},
      {"map does not wait for free stages",
       Base::map,
       lines(try_wait, no_wait, 0),
       {"mbarrier.arrivals", "load.overlap"}},
      {"bulk waits for nothing", Base::bulk, lines(try_wait, no_wait), {"mbarrier.arrivals"}},
      {"copy waits for the other parity", Base::copy, adjust(try_wait, 1, "1"), {"mbarrier.parity"}},
      {"map waits for the other parity", Base::map, adjust(try_wait, 1, "1"), {"mbarrier.parity"}},
      {"copy reuses a stage before it is read", Base::copy, drop("cp.async.bulk.wait_group.read"), reuse},
      {"copy waits for one group too few", Base::copy, swap("wait_group.read", "1;", "2;"), reuse},
      {"map reuses an output stage before it is read",
       Base::map,
       drop("cp.async.bulk.wait_group.read"),
       {"shared.overwritten-before-store-read"}},
      {"bulk reuses an output stage before it is read",
       Base::bulk,
       drop("cp.async.bulk.wait_group.read"),
       {"shared.overwritten-before-store-read"}},
      {"map waits for one group too few",
       Base::map,
       swap("wait_group.read", "0;", "1;"),
       {"shared.overwritten-before-store-read"}},
      {"copy never commits a group",
       Base::copy,
       drop("commit_group"),
       {"load.before-store-read", "exit.store-unread"}},
      {"map never commits a group",
       Base::map,
       drop("commit_group"),
       {"exit.store-unread", "shared.overwritten-before-store-read"}},
      {"copy exits too early", Base::copy, drop_last("cp.async.bulk.wait_group.read"), {"exit.store-unread"}},
      {"map exits too early", Base::map, drop_last("cp.async.bulk.wait_group.read"), {"exit.store-unread"}},
      {"bulk exits too early", Base::bulk, drop_last("cp.async.bulk.wait_group.read"), {"exit.store-unread"}},
      {"copy initialises for two arrivals", Base::copy, adjust(init, 1, "1"), deadlock},
      {"map initialises for two arrivals", Base::map, adjust(init, 1, "1"), deadlock},
      {"copy initialises for no arrival", Base::copy, adjust(init, 1, "-1"), {"mbarrier.count"}},
      {"copy leaves a barrier uninitialised", Base::copy, drop(init, 0), {"mbarrier.uninitialised"}},
      {"map leaves a barrier uninitialised", Base::map, drop(init, 1), {"mbarrier.uninitialised"}},
      {"copy does not fence its init", Base::copy, drop("fence.mbarrier_init"), {"mbarrier.init-not-fenced"}},
      {"map does not fence its init", Base::map, drop("fence.mbarrier_init"), {"mbarrier.init-not-fenced"}},
      {"bulk does not fence its init", Base::bulk, drop("fence.mbarrier_init"), {"mbarrier.init-not-fenced"}},
      {"map does not meet after the init",
       Base::map,
       drop("bar.sync"),
       {"mbarrier.uninitialised", "race.mbarrier"}},
      {"bulk does not meet after the init", Base::bulk, drop("bar.sync"), {"mbarrier.uninitialised"}},
      {"copy initialises a barrier twice", Base::copy, twice(init, 1), {"mbarrier.initialised-twice"}},
      {"copy's barriers are off by 4 bytes", Base::copy, adjust(init, 0, "4"), {"mbarrier.address"}},
      {"copy's barriers overlap its stages",
       Base::copy,
       adjust(init, 0, "-2048"),
       {"mbarrier.uninitialised", "load.onto-mbarrier"}},
      {"copy loads to an address off by 64",
       Base::copy,
       adjust(tensor_load, 0, "64"),
       {"copy.shared-alignment"}},
      {"copy stores from an address off by 16",
       Base::copy,
       adjust(tensor_store, 2, "16"),
       {"copy.shared-alignment"}},
      {"swizzled copy loads off the period",
       Base::swizzled,
       adjust(tensor_load, 0, "128"),
       {"copy.swizzle-base"}},
      {"copy loads at an odd column", Base::copy, adjust(tensor_load, 1, "1"), {"copy.inner-coordinate"}},
      {"copy stores at a negative row",
       Base::copy,
       adjust(tensor_store, 1, "-16"),
       {"store.negative-coordinate"}},
      {"copy stores bytes that no load wrote", Base::copy, drop(tensor_load), bytes},
      {"copy loads past its shared memory",
       Base::copy,
       adjust(tensor_load, 0, "1048576"),
       {"shared.out-of-bounds"}},
      {"map forgets to free its stages", Base::map, drop("mbarrier.arrive.shared"), deadlock},
      {"bulk forgets to free its stages", Base::bulk, drop("mbarrier.arrive.shared"), deadlock},
      {"map frees its stages twice",
       Base::map,
       twice("mbarrier.arrive.shared"),
       {"mbarrier.arrivals", "load.overlap", "shared.in-flight-read", "deadlock"}},
      {"map's threads do not meet before the store",
       Base::map,
       drop("barrier.sync.aligned"),
       {"race.shared-write-read"}},
      {"copy loads every tile twice", Base::copy, twice(tensor_load), {"load.overlap"}},
      {"bulk loads to an address off by 8",
       Base::bulk,
       adjust("cp.async.bulk.shared::cluster", 0, "8"),
       {"copy.shared-alignment"}},
      {"bulk loads 8 bytes more",
       Base::bulk,
       adjust("cp.async.bulk.shared::cluster", 1, "8"),
       {"copy.global-alignment"}},
      {"bulk loads 16 bytes less", Base::bulk, adjust("cp.async.bulk.shared::cluster", 1, "-16"), bytes},
      {"reduce_into expects 16 bytes too few", Base::reduce_into, adjust(expect_tx, 1, "-16"), bytes},
      {"reduce_into does not wait for its loads", Base::reduce_into, lines(try_wait, no_wait), in_flight},
      {"reduce_into reuses a stage before it is read", Base::reduce_into,
       drop("cp.async.bulk.wait_group.read"), reuse},
      {"reduce_into exits too early",
       Base::reduce_into,
       drop_last("cp.async.bulk.wait_group.read"),
       {"exit.store-unread"}},
      {"reduce_into never commits a group",
       Base::reduce_into,
       drop("commit_group"),
       {"load.before-store-read", "exit.store-unread"}},
      {"reduce_into takes the bits of f32",
       Base::reduce_into,
       swap(tensor_reduce, ".add", ".xor"),
       {"reduce.type"}},
      {"reduce_into combines at a negative row",
       Base::reduce_into,
       adjust(tensor_reduce, 1, "-16"),
       {"store.negative-coordinate"}},
      {"bulk's compute warps do not meet",
       Base::bulk,
       drop("barrier.sync.aligned"),
       {"race.shared-write-read"}},
  };
}

}  // namespace

TEST_CASE("the kernels from which mutants are made have no reports in any mode") {
  for (const Base kernel : {Base::copy, Base::swizzled, Base::map, Base::bulk, Base::reduce_into}) {
    for (const auto mode : {SimOptions::Mode::late, SimOptions::Mode::early, SimOptions::Mode::random}) {
      bool finished = false;
      const auto sim = run(
          kernel, [](std::string text) { return text; }, finished, 3, mode);
      CAPTURE(static_cast<int>(kernel), static_cast<int>(mode));
      CHECK(finished);
      CHECK(sim->reports().empty());
    }
  }
}

TEST_CASE("the first report of every mutant is of its rule") {
  std::size_t kinds = 0;
  for (const Mutant& mutant : mutants()) {
    bool changed = false;
    bool finished = true;
    const auto sim = run(
        mutant.kernel,
        [&](const std::string& text) {
          std::string edited = mutant.edit(text);
          changed = std::ranges::count(edited, '\n') != 0 && edited != text;
          return edited;
        },
        finished, 5);
    INFO(mutant.name);
    std::string texts;
    for (const Report& report : sim->reports()) {
      texts += report.text();
      texts += '\n';
    }
    INFO(texts);
    CHECK(changed);
    CHECK_FALSE(finished);
    CHECK_FALSE(sim->reports().empty());
    if (sim->reports().empty()) continue;
    CHECK(std::ranges::find(mutant.rules, sim->reports()[0].rule) != mutant.rules.end());
    for (const Report& report : sim->reports()) {
      CHECK_FALSE(report.kernel.empty());
      CHECK_FALSE(report.found.empty());
      CHECK_FALSE(report.expected.empty());
      CHECK_FALSE(report.remedy.empty());
      CHECK(report.ptx_line > 0);
    }
    ++kinds;
  }
  CHECK(kinds >= 40);
}

}  // namespace mutants_test
