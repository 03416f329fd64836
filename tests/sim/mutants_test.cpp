/// Protocol mistakes made from our own kernels: each must be reported by its name.
#include "sim/support.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include <catch2/matchers/catch_matchers_string.hpp>

using namespace tmajit;

namespace {

using tests::Edit;

/// Every line that contains `needle`, or only the nth, as `change` makes it.
Edit lines(const std::string& needle, const std::function<std::string(const std::string&)>& change,
           int nth = -1) {
  return [=](const std::string& text) {
    std::istringstream in(text);
    std::string result;
    int n = 0;
    for (std::string line; std::getline(in, line);) {
      if (line.find(needle) != std::string::npos && (nth < 0 || n++ == nth)) line = change(line);
      result += line;
      result += '\n';
    }
    return result;
  };
}

Edit drop(const std::string& needle, int nth = -1) {
  return lines(
      needle, [](const std::string&) { return std::string(); }, nth);
}
/// Drops the last line that contains `needle`.
Edit drop_last(const std::string& needle) {
  return [=](const std::string& text) {
    const std::size_t at = text.rfind(needle);
    if (at == std::string::npos) return text;
    const std::size_t begin = text.rfind('\n', at) + 1;
    return text.substr(0, begin) + text.substr(text.find('\n', at) + 1);
  };
}
Edit twice(const std::string& needle, int nth = -1) {
  return lines(
      needle, [](const std::string& line) { return line + "\n" + line; }, nth);
}
Edit swap(const std::string& needle, const std::string& from, const std::string& to, int nth = -1) {
  return lines(
      needle,
      [=](const std::string& line) {
        const std::size_t at = line.find(from);
        return at == std::string::npos ? line : line.substr(0, at) + to + line.substr(at + from.size());
      },
      nth);
}

/// Operand `index` of the instruction, a register: `op` comes before it and changes the register in a copy.
Edit adjust(const std::string& needle, std::size_t which, const std::string& amount, int nth = -1) {
  return lines(
      needle,
      [=](const std::string& line) {
        // The registers of the line, in order.
        std::size_t at = 0;
        for (std::size_t n = 0;; ++n) {
          at = line.find("%r", at);
          if (at == std::string::npos) return line;
          const std::size_t end = line.find_first_not_of("rd0123456789", at + 1);
          const std::string name = line.substr(at, end - at);
          if (name.compare(0, 3, "%rd") == 0) {
            at = end;
            --n;
            continue;
          }
          if (n == which) {
            return "{\n.reg .b32 mutant;\nadd.s32 mutant, " + name + ", " + amount + ";\n" +
                   line.substr(0, at) + "mutant" + line.substr(end) + "\n}";
          }
          at = end;
        }
      },
      nth);
}

enum class Base { copy, swizzled, map, bulk };

struct Mutant {
  const char* name;
  Base kernel;
  Edit edit;
  std::vector<std::string> rules;  ///< one of them must be reported
};

std::shared_ptr<SimDevice> run(Base kind, const Edit& edit, bool& finished, std::uint64_t seed,
                               SimOptions::Mode mode = SimOptions::Mode::late) {
  const auto sim = make_sim_device(
      {.mode = mode, .seed = seed, .threads = 1, .instruction_limit = 2'000'000, .sm_count = 2});
  Runtime runtime(
      {.device = std::make_shared<tests::EditingDevice>(sim, edit), .cache_directory = std::nullopt});
  const bool flat = kind == Base::bulk;
  const auto view = flat ? TensorView::contiguous(ElementType::f32, std::array<std::uint64_t, 1>{20'000})
                         : TensorView::contiguous(ElementType::f32, std::array<std::uint64_t, 2>{160, 96});
  const std::array<std::uint32_t, 2> box{16, 32};
  const std::array<std::uint32_t, 1> chunk{512};
  TileOptions options;
  options.box = flat ? std::span<const std::uint32_t>(chunk) : std::span<const std::uint32_t>(box);
  options.stages = 3;
  options.ctas_per_sm = 1;
  if (kind == Base::swizzled) options.swizzle = Swizzle::b128;
  KernelSpec spec;
  switch (kind) {
    case Base::map: spec = map_spec("x * 2 + 1", {&view, 1}, view, options); break;
    case Base::bulk: spec = bulk_spec("x * 2 + 1", view.type, view.type, options); break;
    default: spec = copy_spec(view, view, options);
  }
  const Buffer in(sim, view.span_bytes());
  const Buffer out(sim, view.span_bytes());
  sim->fill(in.address(), std::byte{1}, view.span_bytes(), nullptr);
  const tmajit::Operand input{view, in.address()};
  finished = true;
  runtime.kernel(spec).launch({&input, 1}, {view, out.address()});
  try {
    sim->synchronize(nullptr);
  } catch (const Error&) {
    finished = false;
  }
  return sim;
}

const char* const tensor_load = "cp.async.bulk.tensor.2d.shared::cluster";
const char* const tensor_store = "cp.async.bulk.tensor.2d.global";
const char* const expect_tx = "mbarrier.arrive.expect_tx";
const char* const init = "mbarrier.init";
const char* const try_wait = "mbarrier.try_wait";

std::vector<Mutant> mutants() {
  using Rules = std::vector<std::string>;
  const Rules deadlock{"deadlock"};
  const Rules in_flight{"shared.in-flight-read", "store.in-flight-read"};
  const Rules reuse{"load.before-store-read"};
  const auto no_wait = [](const std::string&) { return std::string("setp.eq.s32 done, 0, 0;"); };
  return {
      {"map without its proxy fence", Base::map, drop("fence.proxy.async"), {"store.missing-proxy-fence"}},
      {"bulk without its proxy fence", Base::bulk, drop("fence.proxy.async"), {"store.missing-proxy-fence"}},
      {"copy expects 16 bytes too many", Base::copy, adjust(expect_tx, 1, "16"), deadlock},
      {"copy expects 16 bytes too few", Base::copy, adjust(expect_tx, 1, "-16"), deadlock},
      {"map expects 16 bytes too many", Base::map, adjust(expect_tx, 1, "16"), deadlock},
      {"map expects 16 bytes too few", Base::map, adjust(expect_tx, 1, "-16"), deadlock},
      {"bulk expects 16 bytes too many", Base::bulk, adjust(expect_tx, 1, "16"), deadlock},
      {"copy expects no bytes",
       Base::copy,
       swap(expect_tx, ".expect_tx", "", -1),
       {"deadlock", "mbarrier.arrivals", "mbarrier.early-phase", "store.in-flight-read"}},
      {"copy does not wait for its loads", Base::copy, lines(try_wait, no_wait), in_flight},
      {"map waits for nothing", Base::map, lines(try_wait, no_wait), {"mbarrier.arrivals"}},
      {"map does not wait for its loads",
       Base::map,
       lines(try_wait, no_wait, 1),
       {"shared.in-flight-read", "mbarrier.arrivals"}},
      {"map does not wait for free stages",
       Base::map,
       lines(try_wait, no_wait, 0),
       {"mbarrier.arrivals", "load.overlap"}},
      {"bulk waits for nothing", Base::bulk, lines(try_wait, no_wait), {"mbarrier.arrivals"}},
      {"copy waits for the other parity", Base::copy, adjust(try_wait, 1, "1"), in_flight},
      {"map waits for the other parity",
       Base::map,
       adjust(try_wait, 1, "1"),
       {"deadlock", "shared.in-flight-read", "shared.uninitialised"}},
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
      {"map does not meet after the init", Base::map, drop("bar.sync"), {"mbarrier.uninitialised"}},
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
      {"copy stores what nobody loaded", Base::copy, drop(tensor_load), {"deadlock"}},
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
       {"store.missing-proxy-fence", "store.uninitialised", "shared.overwritten-before-store-read"}},
      {"copy loads every tile twice", Base::copy, twice(tensor_load), {"load.overlap"}},
      {"bulk loads to an address off by 8",
       Base::bulk,
       adjust("cp.async.bulk.shared::cluster", 0, "8"),
       {"copy.shared-alignment"}},
      {"bulk loads 8 bytes more",
       Base::bulk,
       adjust("cp.async.bulk.shared::cluster", 1, "8"),
       {"copy.global-alignment"}},
      {"bulk loads 16 bytes less",
       Base::bulk,
       adjust("cp.async.bulk.shared::cluster", 1, "-16"),
       {"deadlock"}},
      {"bulk's compute warps do not meet",
       Base::bulk,
       drop("barrier.sync.aligned"),
       {"store.missing-proxy-fence", "store.uninitialised", "shared.overwritten-before-store-read"}},
  };
}

}  // namespace

TEST_CASE("the kernels that mutants are made of are correct in every mode") {
  for (const Base kernel : {Base::copy, Base::swizzled, Base::map, Base::bulk}) {
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

TEST_CASE("every mutant is caught by its name") {
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
    const std::vector<std::string> found = tests::rules(*sim);
    INFO(mutant.name);
    std::string texts;
    for (const Report& report : sim->reports()) {
      texts += report.text();
      texts += '\n';
    }
    INFO(texts);
    CHECK(changed);
    CHECK_FALSE(finished);
    CHECK(std::ranges::any_of(found, [&](const std::string& rule) {
      return std::ranges::find(mutant.rules, rule) != mutant.rules.end();
    }));
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
