// SPDX-License-Identifier: Apache-2.0
#include "CommandLine.h"

#include <cstdio>
#include <nlohmann/json.hpp>

namespace pellucid::cli {

VerbLine::VerbLine(std::string v, std::string description, std::string e)
    : application(std::move(description), "pellucid " + v), verb(std::move(v)),
      example(std::move(e)) {
  application.footer("Example:\n  " + example);
  application.add_flag("--json", jsonWanted, "print one JSON object instead of text");
}

bool VerbLine::parse(Words words) {
  // CLI11 takes the words last first.
  std::vector<std::string> reversed;
  for (int i = words.count; i-- > 0;)
    reversed.emplace_back(words.values[i]);
  try {
    application.parse(reversed);
    return true;
  } catch (const CLI::CallForHelp &) {
    std::fputs(application.help().c_str(), stdout);
    code = Ok;
  } catch (const CLI::RequiredError &mistake) {
    // An unknown option is the likelier mistake than the one it was typed for being absent.
    for (int i = 0; i < words.count; ++i) {
      std::string word = words.values[i];
      if (word.rfind("--", 0) == 0 &&
          !application.get_option_no_throw(word.substr(0, word.find('=')))) {
        std::fprintf(stderr, "%s: error: 'pellucid %s' has no such option\n", word.c_str(),
                     verb.c_str());
        code = Refused;
        return false;
      }
    }
    std::fprintf(stderr, "pellucid %s: error: %s\nnote: 'pellucid %s --help' shows what it takes\n",
                 verb.c_str(), mistake.what(), verb.c_str());
    code = Refused;
  } catch (const CLI::ParseError &mistake) {
    std::fprintf(stderr, "pellucid %s: error: %s\nnote: 'pellucid %s --help' shows what it takes\n",
                 verb.c_str(), mistake.what(), verb.c_str());
    code = Refused;
  }
  return false;
}

int refuse(const Diagnostic &diagnostic) {
  std::fputs(render(diagnostic).c_str(), stderr);
  return Refused;
}

int refuse(const Diagnostics &diagnostics) {
  // The first line is the error a caller acts on; warnings follow it.
  for (const Diagnostic &d : diagnostics.all())
    if (d.severity == Severity::Error)
      std::fputs(render(d).c_str(), stderr);
  for (const Diagnostic &d : diagnostics.all())
    if (d.severity != Severity::Error)
      std::fputs(render(d).c_str(), stderr);
  return Refused;
}

int refuse(const std::string &argument, const std::string &message) {
  return refuse(Diagnostic(Severity::Error, SourceLocation(argument), message));
}

void printJson(const nlohmann::json &value) { std::puts(value.dump(1).c_str()); }

} // namespace pellucid::cli
