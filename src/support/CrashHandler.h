// SPDX-License-Identifier: Apache-2.0
/// The last net: what a process that is about to die was working on. Nothing relies on it; a crash
/// is a bug to be fixed, and this names the operator, pass or kernel and the line where to look.
#pragma once

#include "support/SourceFile.h"

#include <string>

namespace pellucid {

/// While it lives, this thread works on `name`: `lowering 'aten.sum.default' at model.py:3:12`.
/// Only pointers are kept, so that it costs nothing; `name` and `where` must outlive it.
class Working {
public:
  Working(const char *doing, const std::string &name, const SourceLocation *where = nullptr);
  ~Working();
  Working(const Working &) = delete;
  Working &operator=(const Working &) = delete;

private:
  friend struct CrashReport;
  const char *doing;
  const std::string &name;
  const SourceLocation *where;
  Working *outer;
};

enum class AfterCrash : uint8_t {
  Exit,  ///< with code 2, as for every internal error
  Raise, ///< the signal again, as if nothing had caught it, for a parent that looks at it
};

/// While it lives, threads that have no work of their own to name are part of this: kernels on a
/// pool. `name` must outlive it; the innermost of the process counts.
class WorkingTogether {
public:
  WorkingTogether(const char *doing, const std::string &name);
  ~WorkingTogether();
  WorkingTogether(const WorkingTogether &) = delete;
  WorkingTogether &operator=(const WorkingTogether &) = delete;

private:
  const char *doingBefore;
  const std::string *nameBefore;
};

/// A sentence at the end of every report from here on; the text is kept as it lies.
void adviseAtCrash(const char *advice);

/// From here to its end a process says one line on standard error when a signal of a fault (also of
/// a stack that is used up) ends it. `program` and its words must live as long. For programs of
/// ours: a library leaves the signals of the process alone and uses CrashScope.
void reportCrashes(const char *program, AfterCrash after);

/// The same while it lives, for a call inside of a process that is not ours: signals that the
/// process handles itself are left to it, and after the line the process ends as it would have
/// without. On one thread at a time.
class CrashScope {
public:
  explicit CrashScope(const char *library);
  ~CrashScope();
  CrashScope(const CrashScope &) = delete;
  CrashScope &operator=(const CrashScope &) = delete;
};

} // namespace pellucid
