#include "launch/files.hpp"

#include "temporary_folder.hpp"

#include <tmajit/error.hpp>

#include <algorithm>
#include <thread>

#include <catch2/catch_test_macros.hpp>
#include <sys/stat.h>

using namespace tmajit;
using tests::read_file, tests::write_file;

TEST_CASE("an output file appears only when it is committed") {
  const TemporaryFolder folder;
  {
    OutputFile file(folder / "a");
    file.write("half");
    CHECK(folder.names().size() <= 1);
  }
  CHECK(folder.names().empty());
  {
    OutputFile file(folder / "a");
    auto memory = file.reserve(3);
    std::copy_n("abc", 3, reinterpret_cast<char*>(memory.data()));
    file.commit();
  }
  CHECK(read_file(folder / "a") == "abc");
  CHECK(folder.names() == std::vector<std::string>{"a"});
  const auto mask = ::umask(0);
  ::umask(mask);
  CHECK(std::filesystem::status(folder / "a").permissions() == std::filesystem::perms(0666 & ~mask));
}

TEST_CASE("reserving more bytes than the disk has is an error") {
  const TemporaryFolder folder;
  OutputFile file(folder / "a");
  CHECK_THROWS_AS(file.reserve(std::uint64_t{1} << 60U), tmajit::Error);
}

TEST_CASE("files and pipes are read whole; a missing file or a folder is an error") {
  const TemporaryFolder folder;
  const std::string text(3'000'000, 'x');
  write_file(folder / "a", text);
  const InputFile file(folder / "a");
  CHECK(file.bytes().size() == text.size());

  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  std::thread writer([&] { write_file(folder / "pipe", text); });
  const InputFile pipe(folder / "pipe");
  writer.join();
  CHECK(pipe.bytes().size() == text.size());

  CHECK_THROWS_AS(InputFile(folder / "b"), tmajit::Error);
  CHECK_THROWS_AS(InputFile(folder.path()), tmajit::Error);
}
