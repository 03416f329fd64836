#include "plan/all_candidates.hpp"
#include "plan/shipped_choices.hpp"
#include "plan/tuning_json.hpp"
#include "reference/random_maps.hpp"
#include "temporary_folder.hpp"

#include <tmajit/error.hpp>
#include <tmajit/tuning.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <sys/stat.h>
#include <unistd.h>

using namespace tmajit;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

/// A shape class that no move has. Different numbers give different classes.
ShapeClass class_number(std::uint32_t n) {
  ShapeClass shape{
      .family = "transpose", .element_bytes = 4, .rank = 2, .order = {1}, .extents = {16384, 8192}};
  for (std::uint8_t& byte : shape.access) {
    byte = static_cast<std::uint8_t>(n);
    n >>= 8;
  }
  return shape;
}

TunedChoice sample(std::uint32_t n = 0, double microseconds = 12.5) {
  return {.chip = "NVIDIA H200",
          .shape_class = class_number(n),
          .choice = {.family = "transpose",
                     .numbers = {{"tile", {64, 64}, true},
                                 {"threads", {256}},
                                 {"vector_bytes", {16}},
                                 {"order", {0}}}},
          .microseconds = microseconds};
}

std::string message_of(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::invalid_argument);
    return error.what();
  }
  return "no error";
}

std::string random_text(reference::Random& random) {
  static const std::vector<std::string> pieces{
      "a", "NVIDIA H200", "\"",   "\\", "\n", "ß",    "→", "{\"choices\": [",
      "0", " ",           "\x01", "]}", "😀",  "x8,y4"};
  std::string text;
  for (auto n = reference::between(random, 0, 4); n > 0; --n) text += reference::one_of(random, pieces);
  return text;
}

}  // namespace

TEST_CASE("a choice is found only with its chip, for its shape and near shapes of its kind") {
  TuningTable table;
  const ShapeClass shape = class_number(0);
  CHECK_FALSE(table.find("NVIDIA H200", shape).has_value());
  table.add(sample());
  CHECK(table.find("NVIDIA H200", shape) == sample());
  CHECK_FALSE(table.find("NVIDIA H100", shape).has_value());
  CHECK_FALSE(table.find("NVIDIA H300", shape).has_value());
  std::vector<ShapeClass> others(5, shape);
  others[0].family = "rows";
  others[1].element_bytes = 8;
  others[2].rank = 3;
  others[3].staggered = true;
  others[4].sources = 1;
  for (std::size_t i = 0; i < shape.access.size(); ++i) {
    others.push_back(shape);
    others.back().access[i] = 0x12;
    others.push_back(shape);
    others.back().order[i] ^= 2;
    others.push_back(shape);
    others.back().extents[i] = shape.extents[i] * 5 / 4 + 2;
    others.push_back(shape);
    others.back().length = 1;
  }
  for (const ShapeClass& other : others) {
    INFO(other.text());
    CHECK(other.distance(shape) > ShapeClass::near);
    CHECK_FALSE(table.find("NVIDIA H200", other).has_value());
    CHECK_FALSE(table.has_added("NVIDIA H200", other));
  }
  ShapeClass near = shape;
  near.extents = {17000, 7900};
  CHECK(near.distance(shape) == shape.distance(near));
  CHECK(table.find("NVIDIA H200", near) == sample());
}

TEST_CASE("of all shapes within reach the nearest gives its choice") {
  const auto seed = reference::seed(20261506);
  INFO("TMAJIT_SEED=" << seed);
  reference::Random random(seed);
  const auto random_shape = [&] {
    ShapeClass shape = class_number(static_cast<std::uint32_t>(reference::between(random, 0, 1)));
    for (std::size_t d = 0; d < 2; ++d) shape.extents[d] = reference::between(random, 1000, 1400);
    return shape;
  };
  for (int round = 0; round < 50; ++round) {
    TuningTable table;
    std::vector<TunedChoice> added;
    for (auto n = reference::between(random, 0, 12); n > 0; --n) {
      TunedChoice choice = sample(0, static_cast<double>(n));
      choice.shape_class = random_shape();
      if (reference::one_in(random, 4)) choice.chip = "NVIDIA H100 80GB HBM3";
      std::erase_if(added, [&](const TunedChoice& other) {
        return other.chip == choice.chip && other.shape_class == choice.shape_class;
      });
      added.push_back(choice);
      table.add(choice);
    }
    for (int i = 0; i < 20; ++i) {
      const ShapeClass wanted = random_shape();
      double least = ShapeClass::near;
      bool is_near = false;
      for (const TunedChoice& choice : added) {
        if (choice.chip != "NVIDIA H200" || choice.shape_class.distance(wanted) > least) continue;
        least = choice.shape_class.distance(wanted);
        is_near = true;
      }
      const auto found = table.find("NVIDIA H200", wanted);
      REQUIRE(found.has_value() == is_near);
      REQUIRE(table.has_added("NVIDIA H200", wanted) == is_near);
      if (found) CHECK(found->shape_class.distance(wanted) == least);
    }
  }
}

TEST_CASE("shape classes and choices have the expected texts") {
  CHECK(class_number(0).text() == "transpose 4B rank 2 order 1,0 extents 16384x8192");
  const ShapeClass sum{.family = "general",
                       .element_bytes = 2,
                       .rank = 4,
                       .order = {0, 23, 14},
                       .extents = {7, 8, 512, 64},
                       .length = 9};
  CHECK(sum.text() ==
        "general 2B rank 4 order of x1 3,2,1,0 order of x2 2,1,0,3 extents 7x8x512x64 length 9");
  CHECK(sample().choice.text() == "transpose 64x64, 256 threads");
  KernelChoice choice = sample().choice;
  tests::number_in(choice, "vector_bytes") = 8;
  tests::number_in(choice, "order") = 1;
  CHECK(choice.text() == "transpose 64x64 by 8, 256 threads, source order");
}

TEST_CASE("adding a choice replaces the one of the same chip and class") {
  TuningTable table;
  table.add(sample(1, 5));
  auto better = sample(1, 4);
  better.choice = {.family = "rows", .numbers = {{"tile", {4, 1024}, true}, {"threads", {128}}}};
  table.add(better);
  CHECK(table.all() == std::vector{better});
}

TEST_CASE("choices are listed in order of chip and class") {
  TuningTable table;
  auto other = sample(1, 1);
  other.chip = "NVIDIA GH200";
  table.add(sample(2, 1));
  table.add(sample(1, 1));
  table.add(other);
  const auto all = table.all();
  REQUIRE(all.size() == 3);
  CHECK(all[0] == other);
  CHECK(all[1] == sample(1, 1));
  CHECK(all[2] == sample(2, 1));
}

TEST_CASE("a tuning file has one choice in each line") {
  const std::string head =
      "{\"tmajit\": \"" TMAJIT_VERSION_STRING "\", \"class_version\": 3, \"choice_version\": 2, ";
  CHECK(TuningTable().json() == head + "\"choices\": []}\n");
  TuningTable table;
  auto odd = sample(0, 0.1);
  odd.chip = "a \"chip\"";
  table.add(odd);
  auto general = sample(0, 3);
  general.shape_class = {.family = "general",
                         .element_bytes = 2,
                         .rank = 1,
                         .staggered = true,
                         .sources = 2,
                         .access = {1, 0x31},
                         .extents = {1234567}};
  general.choice = {.family = "general",
                    .numbers = {{"tile", {2048}, true}, {"threads", {256}}, {"chunks", {2}}}};
  table.add(general);
  CHECK(table.json() == head + R"("choices": [
  {"chip": "NVIDIA H200", "class": {"family": "general", "element_bytes": 2, "rank": 1, "staggered": true, "order": [], "sources": 2, "access": [1, 49], "extents": [1234567], "length": 0}, "choice": {"family": "general", "tile": [2048], "threads": 256, "chunks": 2}, "microseconds": 3.0},
  {"chip": "a \"chip\"", "class": {"family": "transpose", "element_bytes": 4, "rank": 2, "staggered": false, "order": [1], "sources": 0, "access": [], "extents": [16384, 8192], "length": 0}, "choice": {"family": "transpose", "tile": [64, 64], "threads": 256, "vector_bytes": 16, "order": 0}, "microseconds": 0.1}
]}
)");
}

TEST_CASE("random choices survive a round trip through a file") {
  const auto seed = reference::seed(20261126);
  INFO("TMAJIT_SEED=" << seed);
  reference::Random random(seed);
  const auto family = [&] { return families()[reference::between(random, 0, families().size() - 1)].name; };
  const auto byte = [&] { return static_cast<std::uint8_t>(random()); };
  const auto word = [&] { return reference::one_in(random, 3) ? 0 : static_cast<std::uint32_t>(random()); };
  const TemporaryFolder folder;
  for (int i = 0; i < 100; ++i) {
    TuningTable table;
    for (auto n = reference::between(random, 0, 20); n > 0; --n) {
      TunedChoice tuned{
          .chip = random_text(random),
          .shape_class = {.family = family(),
                          .element_bytes = byte(),
                          .rank = byte(),
                          .staggered = reference::one_in(random, 2),
                          .sources = byte(),
                          .length = random()},
          .choice = {.family = family()},
          .microseconds = std::ldexp(static_cast<double>(random()), -static_cast<int>(random() % 900))};
      for (std::uint8_t& access : tuned.shape_class.access)
        access = reference::one_in(random, 2) ? 0 : byte();
      for (std::uint16_t& order : tuned.shape_class.order)
        order = reference::one_in(random, 2) ? 0 : static_cast<std::uint16_t>(random());
      for (std::uint64_t& extent : tuned.shape_class.extents)
        extent = reference::one_in(random, 2) ? 0 : random();
      for (const ChoiceField& field : family_named(tuned.choice.family).choice_fields()) {
        auto& number = tuned.choice.numbers.emplace_back(
            KernelChoice::Number{.name = field.name, .is_box = field.is_box});
        for (std::uint32_t& value : std::span(number.values).first(field.is_box ? max_view_rank : 1))
          value = field.max_value + 1 == 0 ? word() : word() % (field.max_value + 1);
      }
      CHECK_FALSE(tuned.choice.text().empty());
      CHECK_FALSE(tuned.shape_class.text().empty());
      table.add(tuned);
    }
    table.save(folder / "t.json");
    TuningTable again;
    again.load(folder / "t.json");
    REQUIRE(again.all() == table.all());
    REQUIRE(again.json() == table.json());
  }
  CHECK(folder.names().size() == 1);
}

TEST_CASE("values that JSON cannot hold are replaced") {
  TuningTable table;
  auto odd = sample(1, std::numeric_limits<double>::infinity());
  odd.chip = "\xff chip";
  table.add(odd);
  table.add(sample(2, std::nan("")));
  TuningTable again;
  again.add_json(table.json());
  REQUIRE(again.all().size() == 2);
  for (const auto& choice : again.all()) CHECK(choice.microseconds == 0);
  CHECK(again.find("\xef\xbf\xbd chip", class_number(1)).has_value());
}

namespace {

const std::string head = R"({"tmajit": "0.1.0", "class_version": 3, "choice_version": 2, "choices": [)";
const std::string some_class =
    R"({"family": "rows", "element_bytes": 4, "rank": 1, "staggered": false, "order": [], "sources": 0, )"
    R"("access": [], "extents": [16777216], "length": 0})";
const std::string some_choice =
    R"({"family": "transpose", "tile": [1024], "threads": 128, "vector_bytes": 16, "order": 0})";

std::string entry(const std::string& shape_class, const std::string& choice) {
  return R"({"chip": "a", "class": )" + shape_class + R"(, "choice": )" + choice + R"(, "microseconds": 1})";
}

/// `text` with the first `what` replaced.
std::string with(std::string text, std::string_view what, std::string_view by) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

}  // namespace

TEST_CASE("the error for a wrong tuning text names the position, and the table is not changed") {
  struct Wrong {
    std::string text;
    const char* says;
  };
  const std::string good = entry(some_class, some_choice);
  const auto in_class = [&](std::string_view what, std::string_view by) {
    return head + entry(with(some_class, what, by), some_choice) + "]}";
  };
  const auto in_choice = [&](std::string_view what, std::string_view by) {
    return head + entry(some_class, with(some_choice, what, by)) + "]}";
  };
  const std::vector<Wrong> texts{
      {"", "x.json is not JSON: parse error at line 1, column 1"},
      {"{", "x.json is not JSON: parse error at line 1, column 2"},
      {"[]", "x.json: a list; an object with \"tmajit\" and \"choices\" is needed"},
      {"null", "x.json: null; an object"},
      {R"({"choices": []})", "x.json: \"tmajit\" is missing"},
      {R"({"tmajit": 1, "choices": []})", "x.json: tmajit is 1; a string is needed"},
      {R"({"tmajit": "0.1.0", "choices": []})", "x.json: \"class_version\" is missing"},
      {R"({"tmajit": "0.1.0", "class_version": -1, "choices": []})",
       "x.json: class_version is -1; a whole number"},
      {R"({"tmajit": "0.1.0", "class_version": 3, "choices": []})", "x.json: \"choice_version\" is missing"},
      {R"({"tmajit": "0.1.0", "class_version": 3, "choice_version": 2})", "x.json: \"choices\" is missing"},
      {R"({"tmajit": "0.1.0", "class_version": 3, "choice_version": 2, "choices": {}})",
       "x.json: choices is an object; a list is needed"},
      {head + "1]}", "x.json: choices[0] is 1; an object with \"chip\""},
      {head + good + ", {}]}", "x.json: choices[1].\"microseconds\" is missing"},
      {head + good + R"(, {"microseconds": "fast"}]})",
       "choices[1].microseconds is \"fast\"; a number, 0 or more"},
      {head + R"({"microseconds": -1}]})", "choices[0].microseconds is -1"},
      {head + R"({"microseconds": 1e999}]})", "number overflow"},
      {head + R"({"microseconds": 1}]})", "choices[0].\"chip\" is missing"},
      {head + R"({"microseconds": 1, "chip": ["a"]}]})", "choices[0].chip is a list; a string"},
      {head + R"({"microseconds": 1, "chip": "a"}]})", "choices[0].\"class\" is missing"},
      {head + entry("\"rows\"", some_choice) + "]}", "choices[0].class is \"rows\"; an object is needed"},
      {head + entry(some_class, "7") + "]}", "choices[0].choice is 7; an object is needed"},
      {in_class("\"rows\"", "8"), "choices[0].class.family is 8; a string is needed"},
      {in_class("\"element_bytes\": 4, ", ""), "choices[0].class.\"element_bytes\" is missing"},
      {in_class("\"element_bytes\": 4", "\"element_bytes\": 256"),
       "choices[0].class.element_bytes is 256; a whole number"},
      {in_class("\"rank\": 1", "\"rank\": 1.5"), "choices[0].class.rank is 1.5; a whole number in range"},
      {in_class("false", "0"), "choices[0].class.staggered is 0; true or false is needed"},
      {in_class("\"length\": 0", "\"length\": -1"), "choices[0].class.length is -1; a whole number"},
      {in_class("\"length\": 0", "\"length\": 18446744073709551616"), "choices[0].class.length is 1.8"},
      {in_class("\"access\": []", "\"access\": [1,1,1,1,1,1,1,1,1]"),
       "choices[0].class.access is a list; a list of at most 8 numbers"},
      {in_class("\"access\": []", "\"access\": [1, -1]"), "choices[0].class.access[1] is -1; a whole number"},
      {in_class("\"order\": [], ", ""), "choices[0].class.\"order\" is missing"},
      {in_class("\"order\": []", "\"order\": [65536]"), "choices[0].class.order[0] is 65536; a whole number"},
      {in_class("[16777216]", "[-1]"), "choices[0].class.extents[0] is -1; a whole number"},
      {in_choice("[1024]", "1024"), "choices[0].choice.tile is 1024; a list of at most 8 numbers"},
      {in_choice("[1024]", "[4294967296]"), "choices[0].choice.tile[0] is 4294967296; a whole number"},
      {in_choice("\"threads\": 128", "\"threads\": \"128\""),
       "choices[0].choice.threads is \"128\"; a whole number"},
      {in_choice("\"order\": 0", "\"order\": 4"), "choices[0].choice.order is 4; 0 to 1 is needed"},
      {in_choice("\"threads\": 128, ", ""), "choices[0].choice.\"threads\" is missing"},
      {in_choice("\"tile\": [1024]", "\"turns\": 2, \"tile\": [1024]"),
       "x.json: choices[0].choice.\"turns\" is no number of the family transpose; its choices have family, "
       "tile, "
       "threads, vector_bytes, order"},
      {head + good + "]} x", "x.json is not JSON: parse error"},
      {head + "\"\xff\"]}", "x.json is not JSON: parse error"},
  };
  for (const Wrong& wrong : texts) {
    TuningTable table;
    table.add(sample());
    INFO(wrong.text);
    CHECK_THAT(message_of([&] { table.add_json(wrong.text, "x.json"); }), ContainsSubstring(wrong.says));
    CHECK(table.all() == std::vector{sample()});
  }
}

TEST_CASE("a tuning file truncated at any byte is refused") {
  TuningTable table;
  table.add(sample(1, 1.25));
  table.add(sample(2, 3));
  const auto text = table.json();
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    TuningTable empty;
    REQUIRE_THAT(message_of([&] { empty.add_json(text.substr(0, size)); }),
                 StartsWith("tuning file is not JSON"));
    REQUIRE(empty.all().empty());
  }
}

TEST_CASE("deeply nested JSON is refused without a crash") {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  TuningTable table;
  CHECK_THAT(message_of([&] { table.add_json(deep); }), ContainsSubstring("a list; an object"));
  CHECK_THAT(message_of([&] { table.add_json(head + deep + "]}"); }),
             ContainsSubstring("choices[0] is a list"));
}

TEST_CASE("unknown keys are ignored, and so are files of versions whose fields have another meaning") {
  const auto read = [](const std::string& text) {
    TuningTable table;
    table.add_json(text);
    return table.all();
  };
  const std::string good = entry(some_class, some_choice);
  const auto later = read(with(head, "\"tmajit\": \"0.1.0\"", R"("tmajit": "9.0.0", "machine": "m")") +
                          with(good, "\"chip\"", "\"clock\": 1980, \"chip\"") + "]}");
  REQUIRE(later.size() == 1);
  CHECK(later[0].chip == "a");
  CHECK(later[0].choice.text() == "transpose 1024, 128 threads");
  CHECK(read(with(head, "\"class_version\": 3", "\"class_version\": 2") + good + "]}").empty());
  CHECK(read(with(head, "\"choice_version\": 2", "\"choice_version\": 1") + good + "]}").empty());
  // Fields of other versions are not checked. Version 1 had no order.
  const std::string first = entry(with(some_class, "\"order\": [], ", ""), some_choice);
  CHECK(read(with(head, "\"class_version\": 3", "\"class_version\": 1") + first + "]}").empty());
  // An entry of an unknown family is dropped, the other entries are kept.
  const std::string unknown = entry(some_class, with(some_choice, "\"transpose\"", "\"columns\""));
  CHECK(read(head + unknown + ", " + good + "]}") == later);
  CHECK(read(head + entry(with(some_class, "\"rows\"", "\"columns\""), some_choice) + "]}").empty());
}

TEST_CASE("a missing tuning file has no choices; one that cannot be read or written is an I/O error") {
  const TemporaryFolder folder;
  TuningTable table;
  table.load(folder / "none.json");
  CHECK(table.all().empty());
  const auto code_of = [](const auto& action) {
    try {
      action();
    } catch (const Error& error) {
      return std::string(name(error.code())) + ": " + error.what();
    }
    return std::string("no error");
  };
  std::filesystem::create_directory(folder / "folder");
  CHECK_THAT(code_of([&] { table.load(folder / "folder"); }), StartsWith("io: cannot read "));
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK_THAT(code_of([&] { table.load(folder / "pipe"); }), StartsWith("io: cannot read "));
  CHECK_THAT(code_of([&] { table.save(folder.path() / "none/t.json"); }), StartsWith("io: cannot write "));
  CHECK_THAT(code_of([&] { table.save(folder / "folder"); }), StartsWith("io: cannot write "));
  CHECK(folder.names().size() == 2);

  std::ofstream(folder / "t.json") << "{";
  CHECK_THAT(code_of([&] { table.load(folder / "t.json"); }),
             StartsWith("invalid_argument: ") && ContainsSubstring("t.json is not JSON"));
  table.add(sample());
  table.save(folder / "t.json");
  TuningTable again;
  again.load(folder / "t.json");
  CHECK(again.all() == table.all());
}

TEST_CASE("threads can find and add choices concurrently") {
  TuningTable table;
  constexpr int classes = 50;
  constexpr int rounds = 200;
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        for (int round = 0; round < rounds; ++round) {
          const auto number = static_cast<std::uint32_t>((round * 7 + thread) % classes);
          const ShapeClass shape_class = class_number(number);
          table.add(sample(number, round));
          const auto found = table.find("NVIDIA H200", shape_class);
          if (!found || found->shape_class != shape_class) std::abort();
          if (round % 50 == 0 && table.json().empty()) std::abort();
        }
      });
    }
  }
  CHECK(table.all().size() == classes);
}

TEST_CASE("shipped choices are found, sorted, and of known families") {
  const auto table = TuningTable::shipped();
  const auto all = table.all();
  CHECK(all.size() > 100);
  std::size_t rows = 0;
  for (const ShippedChoices& shipped : shipped_choices()) {
    rows += shipped.choices.size();
    // The library looks them up by binary search.
    CHECK(std::ranges::is_sorted(shipped.choices, std::ranges::less_equal{}, &ShippedChoice::shape_class));
    CHECK(std::ranges::adjacent_find(shipped.choices, {}, &ShippedChoice::shape_class) ==
          shipped.choices.end());
  }
  CHECK(rows == all.size());
  for (const TunedChoice& choice : all) {
    INFO(choice.chip << ": " << choice.shape_class.text());
    CHECK(table.find(choice.chip, choice.shape_class) == choice);
    CHECK(find_family(choice.choice.family).name == choice.choice.family);
    CHECK(find_family(choice.shape_class.family).name == choice.shape_class.family);
    CHECK_FALSE(choice.choice.text().empty());
    CHECK(choice.microseconds > 0);
  }
  TuningTable again;
  again.add_json(table.json());
  CHECK(again.all() == all);
}
