#include "plan/tuning_json.hpp"
#include "reference/random_maps.hpp"

#include <tmajit/error.hpp>
#include <tmajit/tuning.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
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

TunedChoice sample(std::string shape_class = "f32 transpose 2d", double microseconds = 12.5,
                   std::string version = TMAJIT_VERSION_STRING) {
  return {.chip = "NVIDIA H200",
          .shape_class = std::move(shape_class),
          .choice = "transpose 64x64, 256 threads",
          .microseconds = microseconds,
          .version = std::move(version)};
}

/// A folder of the test's own, removed at its end.
class Folder {
 public:
  Folder() {
    static std::atomic<int> number = 0;
    path_ = std::filesystem::temp_directory_path() /
            ("tmajit-tuning-" + std::to_string(::getpid()) + "-" + std::to_string(number++));
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::filesystem::path operator/(const char* name) const { return path_ / name; }
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator());
  }

 private:
  std::filesystem::path path_;
};

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

TEST_CASE("a choice is found by chip and class, in this version only") {
  TuningTable table;
  CHECK_FALSE(table.find("NVIDIA H200", "f32 transpose 2d").has_value());
  table.add(sample());
  CHECK(table.find("NVIDIA H200", "f32 transpose 2d") == sample());
  CHECK_FALSE(table.find("NVIDIA H100", "f32 transpose 2d").has_value());
  CHECK_FALSE(table.find("NVIDIA H200", "f32 transpose").has_value());

  table.add(sample("old", 1, "0.0.9"));
  CHECK_FALSE(table.find("NVIDIA H200", "old").has_value());
  table.add(sample("old", 2));
  CHECK(table.find("NVIDIA H200", "old")->microseconds == 2);
  CHECK(table.all().size() == 3);
}

TEST_CASE("a choice replaces the one of the same chip, class and version") {
  TuningTable table;
  table.add(sample("a", 5));
  auto better = sample("a", 4);
  better.choice = "rows";
  table.add(better);
  CHECK(table.all() == std::vector{better});
}

TEST_CASE("choices are listed by chip, class and version") {
  TuningTable table;
  auto other = sample("a", 1);
  other.chip = "NVIDIA GH200";
  table.add(sample("b", 1));
  table.add(sample("a", 1, "0.2.0"));
  table.add(sample("a", 1, "0.1.0"));
  table.add(other);
  const auto all = table.all();
  REQUIRE(all.size() == 4);
  CHECK(all[0] == other);
  CHECK(all[1] == sample("a", 1, "0.1.0"));
  CHECK(all[2] == sample("a", 1, "0.2.0"));
  CHECK(all[3] == sample("b", 1));
}

TEST_CASE("a tuning file has one choice a line") {
  CHECK(TuningTable().json() == "{\"tmajit\": \"" TMAJIT_VERSION_STRING "\", \"choices\": []}\n");
  TuningTable table;
  table.add(sample("a \"b\"", 0.1, "0.1.0"));
  table.add(sample("c", 3, "0.1.0"));
  CHECK(table.json() == "{\"tmajit\": \"" TMAJIT_VERSION_STRING R"(", "choices": [
  {"chip": "NVIDIA H200", "class": "a \"b\"", "choice": "transpose 64x64, 256 threads", "microseconds": 0.1, "version": "0.1.0"},
  {"chip": "NVIDIA H200", "class": "c", "choice": "transpose 64x64, 256 threads", "microseconds": 3.0, "version": "0.1.0"}
]}
)");
}

TEST_CASE("random choices survive the way to a file and back") {
  const auto seed = reference::seed(20261126);
  INFO("TMAJIT_SEED=" << seed);
  reference::Random random(seed);
  const Folder folder;
  for (int i = 0; i < 100; ++i) {
    TuningTable table;
    for (auto n = reference::between(random, 0, 20); n > 0; --n) {
      table.add({.chip = random_text(random),
                 .shape_class = random_text(random),
                 .choice = random_text(random),
                 .microseconds = std::ldexp(static_cast<double>(random()), -static_cast<int>(random() % 900)),
                 .version = random_text(random)});
    }
    table.save(folder / "t.json");
    TuningTable again;
    again.load(folder / "t.json");
    REQUIRE(again.all() == table.all());
    REQUIRE(again.json() == table.json());
  }
  CHECK(folder.files() == 1);
}

TEST_CASE("what JSON cannot hold is written as what it can") {
  TuningTable table;
  auto odd = sample("a", std::numeric_limits<double>::infinity());
  odd.chip = "\xff chip";
  table.add(odd);
  table.add(sample("b", std::nan("")));
  TuningTable again;
  again.add_json(table.json());
  REQUIRE(again.all().size() == 2);
  for (const auto& choice : again.all()) CHECK(choice.microseconds == 0);
  CHECK(again.find("\xef\xbf\xbd chip", "a").has_value());
}

TEST_CASE("a text that is wrong says where, and changes nothing") {
  struct Wrong {
    std::string text;
    const char* says;
  };
  const std::string head = R"({"tmajit": "0.1.0", "choices": [)";
  const std::string good =
      R"({"chip": "a", "class": "b", "choice": "c", "microseconds": 1, "version": "0.1.0"})";
  const auto wrong = GENERATE_COPY(values<Wrong>({
      {"", "x.json is not JSON: parse error at line 1, column 1"},
      {"{", "x.json is not JSON: parse error at line 1, column 2"},
      {"[]", "x.json: a list; an object with \"tmajit\" and \"choices\" is needed"},
      {"null", "x.json: null; an object"},
      {R"({"choices": []})", "x.json: \"tmajit\" is missing"},
      {R"({"tmajit": 1, "choices": []})", "x.json: tmajit is 1; a string is needed"},
      {R"({"tmajit": "0.1.0"})", "x.json: \"choices\" is missing"},
      {R"({"tmajit": "0.1.0", "choices": {}})", "x.json: choices is an object; a list is needed"},
      {head + "1]}", "x.json: choices[0] is 1; an object with \"chip\""},
      {head + good + ", {}]}", "x.json: choices[1].\"microseconds\" is missing"},
      {head + good + R"(, {"microseconds": "fast"}]})",
       "choices[1].microseconds is \"fast\"; a number, 0 or more"},
      {head + R"({"microseconds": -1}]})", "choices[0].microseconds is -1"},
      {head + R"({"microseconds": 1e999}]})", "number overflow"},
      {head + R"({"microseconds": 1}]})", "choices[0].\"chip\" is missing"},
      {head + R"({"microseconds": 1, "chip": ["a"]}]})", "choices[0].chip is a list; a string"},
      {head + good + "]} x", "x.json is not JSON: parse error"},
      {head + "\"\xff\"]}", "x.json is not JSON: parse error"},
  }));
  TuningTable table;
  table.add(sample());
  INFO(wrong.text);
  CHECK_THAT(message_of([&] { table.add_json(wrong.text, "x.json"); }), ContainsSubstring(wrong.says));
  CHECK(table.all() == std::vector{sample()});
}

TEST_CASE("every beginning of a tuning file is refused") {
  TuningTable table;
  table.add(sample("a", 1.25));
  table.add(sample("b", 3));
  const auto text = table.json();
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    TuningTable empty;
    REQUIRE_THAT(message_of([&] { empty.add_json(text.substr(0, size)); }),
                 StartsWith("tuning file is not JSON"));
    REQUIRE(empty.all().empty());
  }
}

TEST_CASE("deep nesting is refused like anything else") {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  TuningTable table;
  CHECK_THAT(message_of([&] { table.add_json(deep); }), ContainsSubstring("a list; an object"));
  CHECK_THAT(message_of([&] {
               table.add_json(R"({"tmajit": ")"
                              "\", \"choices\": [" +
                              deep + "]}");
             }),
             ContainsSubstring("choices[0] is a list"));
}

TEST_CASE("choices of other versions and keys of later ones are taken") {
  TuningTable table;
  table.add_json(R"({"tmajit": "9.0.0", "machine": "m", "choices": [
      {"chip": "a", "class": "b", "choice": "c", "microseconds": 1, "version": "9.0.0", "clock": 1980}]})");
  REQUIRE(table.all().size() == 1);
  CHECK(table.all()[0].version == "9.0.0");
  CHECK_FALSE(table.find("a", "b").has_value());
}

TEST_CASE("files: none is nothing, what cannot be read or written is an I/O error") {
  const Folder folder;
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
  CHECK_THAT(code_of([&] { table.save(folder / "none" / "t.json"); }), StartsWith("io: cannot write "));
  CHECK_THAT(code_of([&] { table.save(folder / "folder"); }), StartsWith("io: cannot write "));
  CHECK(folder.files() == 2);

  std::ofstream(folder / "t.json") << "{";
  CHECK_THAT(code_of([&] { table.load(folder / "t.json"); }),
             StartsWith("invalid_argument: ") && ContainsSubstring("t.json is not JSON"));
  table.add(sample());
  table.save(folder / "t.json");
  TuningTable again;
  again.load(folder / "t.json");
  CHECK(again.all() == table.all());
}

TEST_CASE("threads find and add at once") {
  TuningTable table;
  constexpr int classes = 50;
  constexpr int rounds = 200;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        for (int round = 0; round < rounds; ++round) {
          const auto shape_class = std::to_string((round * 7 + thread) % classes);
          table.add(sample(shape_class, round));
          const auto found = table.find("NVIDIA H200", shape_class);
          if (!found || found->shape_class != shape_class) std::abort();
          if (round % 50 == 0 && table.json().empty()) std::abort();
        }
      });
    }
  }
  CHECK(table.all().size() == classes);
}

TEST_CASE("what is shipped is of this version, complete, and as it would be written") {
  const auto table = TuningTable::shipped();
  CHECK(table.json() == shipped_tuning());
  for (const auto& choice : table.all()) {
    INFO(choice.chip << ": " << choice.shape_class);
    CHECK(choice.version == TMAJIT_VERSION_STRING);
    CHECK(table.find(choice.chip, choice.shape_class) == choice);
    CHECK_FALSE(choice.choice.empty());
    CHECK(choice.microseconds > 0);
  }
}
