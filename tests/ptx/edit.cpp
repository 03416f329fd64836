#include "ptx/edit.hpp"

#include <sstream>

namespace tests {

Edit lines(const std::string& needle, const std::function<std::string(const std::string&)>& change, int nth) {
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

Edit drop(const std::string& needle, int nth) {
  return lines(
      needle, [](const std::string&) { return std::string(); }, nth);
}

Edit drop_last(const std::string& needle) {
  return [=](const std::string& text) {
    const std::size_t at = text.rfind(needle);
    if (at == std::string::npos) return text;
    const std::size_t begin = text.rfind('\n', at) + 1;
    return text.substr(0, begin) + text.substr(text.find('\n', at) + 1);
  };
}

Edit twice(const std::string& needle, int nth) {
  return lines(
      needle, [](const std::string& line) { return line + "\n" + line; }, nth);
}

Edit swap(const std::string& needle, const std::string& from, const std::string& to, int nth) {
  return lines(
      needle,
      [=](const std::string& line) {
        const std::size_t at = line.find(from);
        return at == std::string::npos ? line : line.substr(0, at) + to + line.substr(at + from.size());
      },
      nth);
}

namespace {

Edit adjust_register(const std::string& prefix, const std::string& type, const std::string& needle,
                     std::size_t which, const std::string& amount, int nth) {
  return lines(
      needle,
      [=](const std::string& line) {
        // Finds register number `which`: the prefix with a digit directly after it.
        std::size_t at = 0;
        for (std::size_t n = 0;; ++n) {
          do {
            at = line.find(prefix, at == 0 ? 0 : at + 1);
            if (at == std::string::npos) return line;
          } while (line.find_first_of("0123456789", at) != at + prefix.size());
          if (n == which) break;
        }
        const std::size_t end = line.find_first_not_of("0123456789", at + prefix.size());
        return "{\n.reg .b" + type + " mutant;\nadd.s" + type + " mutant, " + line.substr(at, end - at) +
               ", " + amount + ";\n" + line.substr(0, at) + "mutant" + line.substr(end) + "\n}";
      },
      nth);
}

}  // namespace

Edit adjust(const std::string& needle, std::size_t which, const std::string& amount, int nth) {
  return adjust_register("%r", "32", needle, which, amount, nth);
}
Edit adjust_wide(const std::string& needle, std::size_t which, const std::string& amount, int nth) {
  return adjust_register("%rd", "64", needle, which, amount, nth);
}

Edit before(const std::string& needle, const std::string& text, int nth) {
  return lines(
      needle, [=](const std::string& line) { return text + "\n" + line; }, nth);
}

Edit replace(const std::string& from, const std::string& to) {
  return [=](const std::string& text) {
    std::string result = text;
    const std::size_t at = result.find(from);
    if (at != std::string::npos) result.replace(at, from.size(), to);
    return result;
  };
}

}  // namespace tests
