// SPDX-License-Identifier: Apache-2.0
/// What every verb shares: its command line, its two output forms and its exit codes.
#pragma once

#include "support/Diagnostics.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace pellucid::cli {

enum ExitCode { Ok = 0, Refused = 1, InternalError = 2 };

/// Refuses what was typed, or a file that it names: `where`.
[[noreturn]] inline void fail(const std::string &where, const std::string &message) {
  throw DiagnosticError(SourceLocation(where), message);
}

/// The words after the verb.
struct Words {
  int count;
  const char *const *values;
};

/// An option that was added to a VerbLine, and lives as long. Only CommandLine.cpp reads CLI11's
/// headers.
class Option {
public:
  explicit Option(CLI::Option *option) : option(option) {}
  /// What --help shows for the value.
  Option &valueText(const std::string &text);
  Option &describe(const std::string &description);
  Option &required();
  /// A whole number from `least` to `most`.
  Option &range(int least, int most);
  Option &range(double least, double most);
  /// `problem` says what is wrong with the value as typed, nothing where all is well.
  Option &check(std::function<std::string(const std::string &)> problem);
  Option &needs(const Option &other);
  Option &excludes(const Option &other);
  bool given() const;

private:
  CLI::Option *option;
};

/// The command line of `verb`, with a one-line description, --json and an example in its --help.
/// Examples name files of examples/ or what an earlier verb's example wrote, so that they work as
/// they stand.
class VerbLine {
public:
  VerbLine(std::string verb, std::string description, std::string example, std::string remark = "");
  ~VerbLine();
  bool json() const { return jsonWanted; }

  // A name without dashes is a positional argument. `value` is written by parse().
  Option add(const std::string &name, std::string &value, const std::string &description);
  Option add(const std::string &name, int &value, const std::string &description);
  Option add(const std::string &name, std::optional<uint64_t> &value,
             const std::string &description);
  Option add(const std::string &name, double &value, const std::string &description);
  Option addFlag(const std::string &name, bool &value, const std::string &description);
  /// An option that may be given several times, each time with one value.
  Option addRepeated(const std::string &name, std::vector<std::string> &values,
                     const std::string &description);
  /// The option of that name, added before.
  Option option(const std::string &name);

  /// Parses; when false, the verb ends with exitCode() (help was printed, or the mistake was).
  bool parse(Words words);
  int exitCode() const { return code; }

private:
  std::unique_ptr<CLI::App> application;
  std::string verb;
  bool jsonWanted = false;
  int code = Ok;
};

/// Prints the diagnostic to standard error and gives exit code 1.
int refuse(const Diagnostic &diagnostic);
int refuse(const Diagnostics &diagnostics);
/// `ARGUMENT: error: message`, where `argument` is as the user typed it.
int refuse(const std::string &argument, const std::string &message);

/// The first bytes of a regular file, enough to know what it is; empty for everything else.
std::string firstBytes(const std::string &path);

/// Throws a DiagnosticError at `argument` when the file to write is `other`, a file that is read or
/// written as well.
void refuseSameFile(const std::string &argument, const std::string &path, const std::string &other);

/// One JSON object on standard output.
void printJson(const nlohmann::json &value);

// One function per verb, each in the file of its name.
int runKernels(Words words);
int runLaunch(Words words);
int runExport(Words words);
int runCompile(Words words);
int runRun(Words words);
int runExec(Words words);
int runInspect(Words words);
int runExplain(Words words);
int runProfile(Words words);
int runBench(Words words);
int runDoctor(Words words);

} // namespace pellucid::cli
