// SPDX-License-Identifier: Apache-2.0
#include "CommandLine.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace pellucid::cli {

namespace {
/// Shows an option's own words for its value in place of CLI11's type names and constraints.
class HelpFormatter : public CLI::Formatter {
public:
  HelpFormatter() { column_width(34); }
  std::string make_option_opts(const CLI::Option *option) const override {
    return option->get_option_text().empty() ? "" : " " + option->get_option_text();
  }
};
} // namespace

VerbLine::VerbLine(std::string v, std::string description, std::string example, std::string remark)
    : application(std::move(description), "pellucid " + v), verb(std::move(v)) {
  application.formatter(std::make_shared<HelpFormatter>());
  application.set_help_flag("-h,--help", "print this");
  application.footer((remark.empty() ? "" : remark + "\n\n") + "Example:\n  " + example);
  application.add_flag("--json", jsonWanted, "print one JSON object instead of text");
}

CLI::Option *addRepeated(CLI::App &app, const std::string &name, std::vector<std::string> &values,
                         const std::string &description) {
  return app.add_option(name, values, description)->take_all()->allow_extra_args(false);
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

std::string firstBytes(const std::string &path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    return {};
  std::ifstream stream(path, std::ios::binary);
  std::string start(64, 0);
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<size_t>(stream.gcount()));
  return start;
}

void refuseSameFile(const std::string &argument, const std::string &path,
                    const std::string &other) {
  std::error_code ignored;
  auto resolve = [&](const std::string &name) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(name, ignored), ignored);
  };
  if (resolve(path) == resolve(other) || std::filesystem::equivalent(path, other, ignored))
    throw DiagnosticError(SourceLocation(argument),
                          "would overwrite '" + other +
                              "', which this command reads or writes too");
}

void printJson(const nlohmann::json &value) { std::puts(value.dump(1).c_str()); }

} // namespace pellucid::cli
