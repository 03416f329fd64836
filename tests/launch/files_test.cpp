#include "launch/files.hpp"

#include "temporary_folder.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <sys/stat.h>

using namespace tmajit;
using tests::read_file, tests::write_file;

TEST_CASE("an output file appears only on commit, with the permissions of a new file") {
  const TemporaryFolder folder;
  {
    OutputFile uncommitted(folder / "a");
    uncommitted.write("unfinished");
    CHECK(folder.names().size() <= 1);  // at most a temporary file
  }
  CHECK(folder.names().empty());
  {
    OutputFile file(folder / "a");
    const auto mapped = file.reserve(3);
    std::copy_n("abc", 3, reinterpret_cast<char*>(mapped.data()));
    file.commit();
  }
  CHECK(read_file(folder / "a") == "abc");
  CHECK(folder.names() == std::vector<std::string>{"a"});
  const auto mask = ::umask(0);  // only a change returns the mask
  ::umask(mask);
  CHECK(std::filesystem::status(folder / "a").permissions() == std::filesystem::perms(0666 & ~mask));
}

TEST_CASE("reserving more bytes than the disk has is an error") {
  const TemporaryFolder folder;
  constexpr std::uint64_t exbibyte = std::uint64_t{1} << 60U;
  OutputFile file(folder / "a");
  CHECK_THROWS_AS(file.reserve(exbibyte), tmajit::Error);
}

TEST_CASE("InputFile reads a file or a pipe whole, and rejects a missing file and a folder") {
  const TemporaryFolder folder;
  const std::string text(3'000'000, 'x');  // more than a pipe holds at a time
  write_file(folder / "a", text);
  const InputFile file(folder / "a");
  CHECK(file.bytes().size() == text.size());

  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  std::thread writer([&] { write_file(folder / "pipe", text); });
  const InputFile pipe(folder / "pipe");
  writer.join();
  CHECK(pipe.bytes().size() == text.size());

  CHECK_THROWS_AS(InputFile(folder / "missing"), tmajit::Error);
  CHECK_THROWS_AS(InputFile(folder.path()), tmajit::Error);
}
