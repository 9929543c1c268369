// SPDX-License-Identifier: Apache-2.0
#include "CommandLine.h"

#include "support/NearNames.h"
#include "support/Printable.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

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
    : application(std::make_unique<CLI::App>(std::move(description), "pellucid " + v)),
      verb(std::move(v)) {
  application->formatter(std::make_shared<HelpFormatter>());
  application->set_help_flag("-h,--help", "print this");
  application->footer((remark.empty() ? "" : remark + "\n\n") + "Example:\n  " + example);
  addFlag("--json", jsonWanted, "print one JSON object instead of text");
}

VerbLine::~VerbLine() = default;

Option VerbLine::add(const std::string &name, std::string &value, const std::string &description) {
  return Option(application->add_option(name, value, description));
}

Option VerbLine::add(const std::string &name, int &value, const std::string &description) {
  return Option(application->add_option(name, value, description));
}

Option VerbLine::add(const std::string &name, std::optional<uint64_t> &value,
                     const std::string &description) {
  return Option(application->add_option(name, value, description));
}

Option VerbLine::add(const std::string &name, double &value, const std::string &description) {
  return Option(application->add_option(name, value, description));
}

Option VerbLine::addFlag(const std::string &name, bool &value, const std::string &description) {
  return Option(application->add_flag(name, value, description));
}

Option VerbLine::addRepeated(const std::string &name, std::vector<std::string> &values,
                             const std::string &description) {
  return Option(
      application->add_option(name, values, description)->take_all()->allow_extra_args(false));
}

Option VerbLine::option(const std::string &name) { return Option(application->get_option(name)); }

Option &Option::valueText(const std::string &text) {
  option->option_text(text);
  return *this;
}

Option &Option::describe(const std::string &description) {
  option->description(description);
  return *this;
}

Option &Option::required() {
  option->required();
  return *this;
}

Option &Option::range(int least, int most) {
  option->check(CLI::Range(least, most));
  return *this;
}

Option &Option::range(double least, double most) {
  option->check(CLI::Range(least, most));
  return *this;
}

Option &Option::check(std::function<std::string(const std::string &)> problem) {
  option->check(CLI::Validator(
      [problem = std::move(problem)](std::string &text) { return problem(text); }, ""));
  return *this;
}

Option &Option::needs(const Option &other) {
  option->needs(other.option);
  return *this;
}

Option &Option::excludes(const Option &other) {
  option->excludes(other.option);
  return *this;
}

bool Option::given() const { return option->count() > 0; }

namespace {

/// Finds the mistakes that CLI11 would report in words of its own; the first one as a diagnostic at
/// the word as it was typed.
class WordCheck {
public:
  WordCheck(const CLI::App &app, const std::string &verb) : app(app), verb(verb) {}

  std::optional<Diagnostic> firstMistake(const std::vector<std::string> &words) {
    for (size_t i = 0; i < words.size(); ++i) {
      if (words[i] == "--")
        break;
      std::optional<Diagnostic> mistake =
          isOption(words[i]) ? checkOption(words, i) : checkPositional(words[i]);
      if (mistake)
        return mistake;
    }
    return std::nullopt;
  }

private:
  const CLI::App &app;
  const std::string &verb;
  std::map<const CLI::Option *, int> given;
  size_t positionals = 0;

  static Diagnostic mistake(const std::string &word, const std::string &text) {
    return {Severity::Error, SourceLocation(word), text};
  }

  static bool isOption(const std::string &word) {
    return word.size() > 1 && word[0] == '-' && !std::isdigit(static_cast<unsigned char>(word[1]));
  }

  /// `i` moves on to the option's value.
  std::optional<Diagnostic> checkOption(const std::vector<std::string> &words, size_t &i) {
    const std::string &word = words[i];
    bool isLong = word.starts_with("--");
    size_t nameSize = isLong ? std::min(word.find('='), word.size()) : 2;
    const CLI::Option *option = app.get_option_no_throw(word.substr(0, nameSize));
    if (!option)
      return mistake(word, "'pellucid " + verb + "' has no such option" +
                               suggestName(word.substr(0, nameSize), optionNames()));
    bool hasOwnValue = nameSize < word.size(), takesValue = option->get_items_expected_max() > 0;
    if (hasOwnValue && !takesValue)
      return mistake(word, "takes no value");
    if (takesValue && !hasOwnValue && ++i == words.size())
      return mistake(word, "a value is missing");
    bool isRepeated = option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
    if (++given[option] > 1 && takesValue && !isRepeated)
      return mistake(word, "is given twice");
    return std::nullopt;
  }

  std::optional<Diagnostic> checkPositional(const std::string &word) {
    std::vector<const CLI::Option *> taken =
        app.get_options([](const CLI::Option *option) { return option->get_positional(); });
    if (++positionals <= taken.size())
      return std::nullopt;
    return mistake(word, "'pellucid " + verb + "' takes " +
                             (taken.empty() ? "options only" : "no more than one argument") +
                             " beside its options");
  }

  std::vector<std::string> optionNames() const {
    std::vector<std::string> names;
    for (const CLI::Option *option : app.get_options())
      for (const std::string &name : option->get_lnames())
        names.push_back("--" + name);
    return names;
  }
};

} // namespace

bool VerbLine::parse(Words words) {
  std::vector<std::string> list(words.values, words.values + words.count);
  code = Refused;
  std::string hint = "note: 'pellucid " + verb + " --help' shows what it takes\n";
  bool wantsHelp = std::any_of(list.begin(), list.end(), [](const std::string &word) {
    return word == "--help" || word == "-h";
  });
  if (!wantsHelp)
    if (auto mistake = WordCheck(*application, verb).firstMistake(list)) {
      refuse(*mistake);
      std::fputs(hint.c_str(), stderr);
      return false;
    }
  try {
    // CLI11 takes the words last first.
    application->parse(std::vector<std::string>(list.rbegin(), list.rend()));
    return true;
  } catch (const CLI::CallForHelp &) {
    std::fputs(application->help().c_str(), stdout);
    code = Ok;
  } catch (const CLI::ParseError &mistake) {
    std::fprintf(stderr, "pellucid %s: error: %s\n%s", verb.c_str(), mistake.what(), hint.c_str());
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

void printJson(const nlohmann::json &value) {
  // Names of files and texts of sources may hold bytes that are no UTF-8, and marks that a terminal
  // would act on: those are written as \u escapes, which mean the same in JSON.
  std::string text = value.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
  bool isPlain = printable(text) == text;
  std::puts(isPlain ? text.c_str()
                    : value.dump(1, ' ', true, nlohmann::json::error_handler_t::replace).c_str());
}

} // namespace pellucid::cli
