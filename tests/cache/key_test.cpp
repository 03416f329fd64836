#include <tmajit/cache.hpp>
#include <tmajit/error.hpp>

#include <functional>
#include <set>

#include <catch2/catch_test_macros.hpp>

using namespace tmajit;

namespace {

struct Inputs {
  Source source{.text = "kernel text", .entry = "k", .expression = "x"};
  CompileOptions options{.arch = "sm_90a", .line_info = true, .extra = {"-DA=1", "-DB=2"}};
  CompilerIdentity compiler{.major = 13, .minor = 0, .build = "abc", .path = "/somewhere"};

  [[nodiscard]] CacheKey key() const { return cache_key(source, options, compiler); }
};

}  // namespace

TEST_CASE("equal inputs have equal keys") {
  CHECK(Inputs{}.key() == Inputs{}.key());
  CHECK(Inputs{}.key().hex().size() == 64);
}

TEST_CASE("the key is the same in every process and build") {
  // The SHA-256 of the fields, with numbers and lengths in 8 bytes, computed with Python's hashlib. It may
  // change only together with key_schema or with the options that are passed to NVRTC.
  CHECK(Inputs{}.key().hex() == "19be2f0afd978df147708f623275f70aa40fe7d318b319e1901401627986fc85");
}

TEST_CASE("every input that changes the kernel changes the key") {
  const std::vector<std::function<void(Inputs&)>> changes{
      [](Inputs& i) { i.source.text.push_back(' '); },
      [](Inputs& i) { i.source.text.clear(); },
      [](Inputs& i) { i.source.entry.back() = 'l'; },
      [](Inputs& i) { i.options.arch = "sm_90"; },
      [](Inputs& i) { i.options.line_info = false; },
      [](Inputs& i) { i.options.extra = {}; },
      [](Inputs& i) {
        i.options.extra = {"-DB=2", "-DA=1"};
      },
      [](Inputs& i) { i.options.extra = {"-DA=1-DB=2"}; },
      [](Inputs& i) {
        i.options.extra = {"-DA=1", "-DB=2", ""};
      },
      [](Inputs& i) {
        i.options.extra = {"-DA=1", "-DB=", "2"};
      },
      [](Inputs& i) { i.compiler.major = 12; },
      [](Inputs& i) { i.compiler.minor = 1; },
      [](Inputs& i) { i.compiler.build = "abd"; },
      // The last character of one field moves to the start of the next.
      [](Inputs& i) { i.source.text.pop_back(), i.source.entry.insert(0, 1, 't'); },
      [](Inputs& i) { i.source.text.push_back('k'), i.source.entry.clear(); },
  };
  std::set<std::string> keys{Inputs{}.key().hex()};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    INFO("change " << i);
    Inputs changed;
    changes[i](changed);
    CHECK(keys.insert(changed.key().hex()).second);
  }
}

TEST_CASE("a key's fields name what differs, and keep long texts short") {
  const auto fields = [](const Inputs& inputs) {
    return key_fields(inputs.source, inputs.options, inputs.compiler);
  };
  const auto differing = [&](const Inputs& inputs) {
    const auto all = fields(Inputs{});
    const auto changed = fields(inputs);
    REQUIRE(changed.size() == all.size());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i] != changed[i]) names.push_back(all[i].name);
    return names;
  };
  CHECK(differing({}).empty());
  Inputs inputs;
  inputs.source.text = std::string(100'000, 'x');
  CHECK(differing(inputs) == std::vector<std::string>{"source"});
  for (const KeyField& field : fields(inputs)) CHECK(field.value.size() <= 200);
  Inputs other = inputs;
  other.source.text.back() = 'y';
  CHECK(fields(other) != fields(inputs));
  inputs = {};
  inputs.options.extra = {"-DA=1 -DB=2"};
  CHECK(differing(inputs) == std::vector<std::string>{"options", "NVRTC options"});
  inputs = {};
  inputs.compiler.build = "abd";
  CHECK(differing(inputs) == std::vector<std::string>{"NVRTC build"});
}

TEST_CASE("the file of NVRTC does not change the key") {
  Inputs moved;
  moved.compiler.path = "/elsewhere";
  moved.compiler.stamp = "1-2.3";
  CHECK(moved.key() == Inputs{}.key());
}

TEST_CASE("options that compile() refuses have no key") {
  Inputs inputs;
  inputs.options.extra = {"-I/usr/include"};
  CHECK_THROWS_AS(inputs.key(), Error);
}

TEST_CASE("cache levels have names") {
  CHECK(std::string_view(name(CacheLevel::memory)) == "memory");
  CHECK(std::string_view(name(CacheLevel::pack)) == "pack");
  CHECK(std::string_view(name(CacheLevel::disk)) == "disk");
  CHECK(std::string_view(name(CacheLevel::fleet)) == "fleet");
  CHECK(std::string_view(name(CacheLevel::compiled)) == "compiled");
}
