// SPDX-License-Identifier: Apache-2.0
/// Every diagnostic of the lexer and the parser, with its place. The wording is CPython 3.11's
/// where it has one (3.12's for f-strings); columns are those of the first byte of the offending
/// text.
#include "syntax/ParseSource.h"

#include <gtest/gtest.h>

namespace pellucid::syntax {
namespace {

struct Case {
  const char *source, *error;
};

void expectErrors(std::initializer_list<Case> cases) {
  for (const Case &c : cases)
    EXPECT_EQ(errorOf(c.source), c.error) << c.source;
}

TEST(Errors, Brackets) {
  expectErrors({
      {"x = (1,", "1:5: '(' was never closed"},
      {"foo(a, b\nx = 1\n", "1:4: '(' was never closed"},
      {"x = [1, 2\ndef f():\n    pass", "1:5: '[' was never closed"},
      {"x = )", "1:5: unmatched ')'"},
      {"x = (]", "1:6: closing parenthesis ']' does not match opening parenthesis '('"},
      {"x = (\n]", "2:1: closing parenthesis ']' does not match opening parenthesis '(' on line 1"},
  });
}

TEST(Errors, Indentation) {
  expectErrors({
      {"  x = 1", "1:3: unexpected indent"},
      {"x = 1\n  y = 2", "2:3: unexpected indent"},
      {"if x:\n    a\n  b", "3:3: unindent does not match any outer indentation level"},
      {"if x:\n\ta\n        b", "3:9: inconsistent use of tabs and spaces in indentation"},
      {"if x:\npass", "2:1: expected an indented block after 'if' statement on line 1"},
      {"if x:\n    pass\nelif y:\npass",
       "4:1: expected an indented block after 'elif' statement on line 3"},
      {"if x:\n    pass\nelse:\npass",
       "4:1: expected an indented block after 'else' statement on line 3"},
      {"while x:\npass", "2:1: expected an indented block after 'while' statement on line 1"},
      {"for x in y:\npass", "2:1: expected an indented block after 'for' statement on line 1"},
      {"with a:\npass", "2:1: expected an indented block after 'with' statement on line 1"},
      {"try:\npass", "2:1: expected an indented block after 'try' statement on line 1"},
      {"try:\n  x\nexcept:\ny",
       "4:1: expected an indented block after 'except' statement on line 3"},
      {"try:\n  x\nfinally:\ny",
       "4:1: expected an indented block after 'finally' statement on line 3"},
      {"def f():\npass", "2:1: expected an indented block after function definition on line 1"},
      {"class A:\npass", "2:1: expected an indented block after class definition on line 1"},
      {"match x:\ncase 1: y", "2:1: expected an indented block after 'match' statement on line 1"},
      {"match x:\n  case 1:\n  y",
       "3:3: expected an indented block after 'case' statement on line 2"},
  });
}

TEST(Errors, Characters) {
  expectErrors({
      {"x = €", "1:5: invalid character '€' (U+20AC)"},
      {"x = a“b”", "1:6: invalid character '“' (U+201C)"},
      {"x =\xC2\xA0y", "1:4: invalid non-printable character U+00A0"},
      {"x = \x01", "1:5: invalid non-printable character U+0001"},
      {"x = $", "1:5: invalid syntax"},
      {"x \\ y", "1:4: unexpected character after line continuation character"},
      {"x = 1 \\", "1:7: unexpected EOF while parsing"},
  });
}

TEST(Errors, Numbers) {
  expectErrors({
      {"1abc", "1:2: invalid decimal literal"},
      {"1_", "1:3: invalid decimal literal"},
      {"1__0", "1:3: invalid decimal literal"},
      {"1.5abc", "1:4: invalid decimal literal"},
      {"1e+", "1:2: invalid decimal literal"},
      {"1jx", "1:3: invalid imaginary literal"},
      {"0x", "1:3: invalid hexadecimal literal"},
      {"0b2", "1:3: invalid digit '2' in binary literal"},
      {"0b12", "1:4: invalid digit '2' in binary literal"},
      {"0o18", "1:4: invalid digit '8' in octal literal"},
      {"012", "1:1: leading zeros in decimal integer literals are not permitted; use an 0o prefix "
              "for octal integers"},
  });
}

TEST(Errors, Strings) {
  expectErrors({
      {"x = 'abc", "1:5: unterminated string literal (detected at line 1)"},
      {"x = 'abc\ny", "1:5: unterminated string literal (detected at line 1)"},
      {"x = '''abc\n\n", "1:5: unterminated triple-quoted string literal (detected at line 2)"},
      {"'\\x1'", "1:1: (unicode error) 'unicodeescape' codec can't decode bytes in position 0-2: "
                 "truncated \\xXX escape"},
      {"'ab\\u12'", "1:1: (unicode error) 'unicodeescape' codec can't decode bytes in position "
                    "2-5: truncated \\uXXXX escape"},
      {"'\\U12345678'", "1:1: (unicode error) 'unicodeescape' codec can't decode bytes in position "
                        "0-9: illegal Unicode character"},
      {"b'a\\x1'", "1:1: (value error) invalid \\x escape at position 1"},
      {"b'é'", "1:1: bytes can only contain ASCII literal characters"},
      {"'a' b'b'", "1:5: cannot mix bytes and nonbytes literals"},
      {"b'a' f'b'", "1:6: cannot mix bytes and nonbytes literals"},
  });
}

TEST(Errors, FStrings) {
  expectErrors({
      {"f'{'", "1:4: f-string: expecting '}'"},
      {"f'{a'", "1:5: f-string: expecting '}'"},
      {"f'{a!r'", "1:7: f-string: expecting '}'"},
      {"f'{a:x'", "1:7: f-string: expecting '}'"},
      {"f'}'", "1:3: f-string: single '}' is not allowed"},
      {"f'{}'", "1:4: f-string: valid expression required before '}'"},
      {"f'{!r}'", "1:4: f-string: valid expression required before '!'"},
      {"f'{:x}'", "1:4: f-string: valid expression required before ':'"},
      {"f'{=}'", "1:4: f-string: valid expression required before '='"},
      {"f'{)}'", "1:4: f-string: unmatched ')'"},
      {"f'{a]}'", "1:5: f-string: unmatched ']'"},
      {"f'{(a}'", "1:6: f-string: closing parenthesis '}' does not match opening parenthesis '('"},
      {"f'{a!}'", "1:6: f-string: missing conversion character"},
      {"f'{a!1}'", "1:6: f-string: invalid conversion character"},
      {"f'{a!x}'", "1:6: f-string: invalid conversion character 'x': expected 's', 'r', or 'a'"},
      {"f'{a! r}'", "1:7: f-string: conversion type must come right after the exclamation mark"},
      {"f'{a!r b}'", "1:8: f-string: expecting ':' or '}'"},
      {"f'{a b}'", "1:6: f-string: expecting '=', or '!', or ':', or '}'"},
      {"f'{lambda x: 1}'", "1:4: f-string: lambda expressions are not allowed without parentheses"},
      {"f'{a:{b:{c:{d}}}}'", "1:9: f-string: expressions nested too deeply"},
      {"f'abc", "1:1: unterminated f-string literal (detected at line 1)"},
      {"f'''a\nb", "1:1: unterminated triple-quoted f-string literal (detected at line 2)"},
      {"f'{a", "1:3: '{' was never closed"},
  });
}

TEST(Errors, Colons) {
  expectErrors({
      {"if x\n  y", "1:5: expected ':'"},
      {"while x\n  y", "1:8: expected ':'"},
      {"for x in y\n  z", "1:11: expected ':'"},
      {"with x\n  y", "1:7: expected ':'"},
      {"class A\n  x", "1:8: expected ':'"},
      {"def f()\n  x", "1:8: expected ':'"},
      {"def f: pass", "1:6: expected '('"},
      {"match x\n  case 1: pass", "1:8: expected ':'"},
      {"match x:\n  case 1\n    y", "2:9: expected ':'"},
      {"lambda x", "1:9: expected ':'"},
  });
}

TEST(Errors, MissingCommas) {
  expectErrors({
      {"f(a b)", "1:3: invalid syntax. Perhaps you forgot a comma?"},
      {"[1, 2 3]", "1:5: invalid syntax. Perhaps you forgot a comma?"},
      {"{1: 2 3: 4}", "1:5: invalid syntax. Perhaps you forgot a comma?"},
      {"x[a b]", "1:3: invalid syntax. Perhaps you forgot a comma?"},
      {"(a b)", "1:2: invalid syntax. Perhaps you forgot a comma?"},
      {"def f(x y): pass", "1:9: invalid syntax"},
      {"x = 1 2", "1:7: invalid syntax"},
      {"f(a, , b)", "1:6: invalid syntax"},
  });
}

TEST(Errors, Targets) {
  expectErrors({
      {"f() = 1", "1:1: cannot assign to function call here. Maybe you meant '==' instead of '='?"},
      {"1 = x", "1:1: cannot assign to literal here. Maybe you meant '==' instead of '='?"},
      {"a + 1 = 2", "1:1: cannot assign to expression here. Maybe you meant '==' instead of '='?"},
      {"f'{a}' = 2",
       "1:1: cannot assign to f-string expression here. Maybe you meant '==' instead of '='?"},
      {"None = 1", "1:1: cannot assign to None"},
      {"(a, True) = x", "1:5: cannot assign to True"},
      {"[a, b.c, f()] = x", "1:10: cannot assign to function call"},
      {"x = f() = 1", "1:5: cannot assign to function call"},
      {"a < b = 1", "1:1: cannot assign to comparison"},
      {"lambda: x = 1", "1:1: cannot assign to lambda"},
      {"x if y else z = 1", "1:1: cannot assign to conditional expression"},
      {"(a for a in b) = 1", "1:1: cannot assign to generator expression"},
      {"yield = 1", "1:1: assignment to yield expression not possible"},
      {"x = yield = 1", "1:5: assignment to yield expression not possible"},
      {"f() += 1", "1:1: 'function call' is an illegal expression for augmented assignment"},
      {"(a, b) += 1", "1:1: 'tuple' is an illegal expression for augmented assignment"},
      {"a, b: int", "1:1: only single target (not tuple) can be annotated"},
      {"[a]: int", "1:1: only single target (not list) can be annotated"},
      {"f(): int", "1:1: illegal target for annotation"},
      {"for f() in x: pass", "1:5: cannot assign to function call"},
      {"[a for 1 in b]", "1:8: cannot assign to literal"},
      {"with a as f(): pass", "1:11: cannot assign to function call"},
      {"del f()", "1:5: cannot delete function call"},
      {"del a + b", "1:5: cannot delete expression"},
      {"del *a", "1:5: cannot delete starred"},
      {"f() := 1", "1:1: cannot use assignment expressions with function call"},
      {"(a.b := 1)", "1:2: cannot use assignment expressions with attribute"},
      {"x := 1", "1:3: invalid syntax"},
      {"if x = 1: pass", "1:4: invalid syntax. Maybe you meant '==' or ':=' instead of '='?"},
      {"while f() = 1: pass",
       "1:7: cannot assign to function call here. Maybe you meant '==' instead of '='?"},
      {"(a = 1)", "1:2: invalid syntax. Maybe you meant '==' or ':=' instead of '='?"},
      {"*a, 1 = 2", "1:5: cannot assign to literal"},
  });
}

TEST(Errors, Calls) {
  expectErrors({
      {"f(a=1, 2)", "1:8: positional argument follows keyword argument"},
      {"f(**k, 2)", "1:8: positional argument follows keyword argument unpacking"},
      {"f(**k, *a)", "1:8: iterable argument unpacking follows keyword argument unpacking"},
      {"f(x for x in y, 1)", "1:3: Generator expression must be parenthesized"},
      {"f(1, x for x in y)", "1:6: Generator expression must be parenthesized"},
      {"class A(x for x in y): pass", "1:9: Generator expression must be parenthesized"},
      {"f(a.b=1)", "1:3: expression cannot contain assignment, perhaps you meant \"==\"?"},
      {"f(1=1)", "1:3: expression cannot contain assignment, perhaps you meant \"==\"?"},
      {"f(True=1)", "1:3: cannot assign to True"},
      {"f(a=1, b=2, a=3)", "1:13: keyword argument repeated: a"},
      {"f(a, b=)", "1:6: expected argument value expression"},
      {"f(a=b for b in c)", "1:3: invalid syntax. Maybe you meant '==' or ':=' instead of '='?"},
  });
}

TEST(Errors, Displays) {
  expectErrors({
      {"{1:}", "1:3: expression expected after dictionary key and ':'"},
      {"{1: 2, 3}", "1:8: ':' expected after dictionary key"},
      {"{a: *b}", "1:5: cannot use a starred expression in a dictionary value"},
      {"{**a for a in b}", "1:2: dict unpacking cannot be used in dict comprehension"},
      {"[*a for a in b]", "1:2: iterable unpacking cannot be used in comprehension"},
      {"(*a)", "1:2: cannot use starred expression here"},
      {"x = a if b", "1:5: expected 'else' after 'if' expression"},
      {"x[]", "1:3: invalid syntax"},
      {"x[1:2:3:4]", "1:8: invalid syntax"},
  });
}

TEST(Errors, Parameters) {
  expectErrors({
      {"def f(a, a): pass", "1:10: duplicate argument 'a' in function definition"},
      {"lambda a, *a: 1", "1:12: duplicate argument 'a' in function definition"},
      {"def f(a=1, b): pass", "1:12: non-default argument follows default argument"},
      {"def f(*): pass", "1:7: named arguments must follow bare *"},
      {"def f(*, **k): pass", "1:7: named arguments must follow bare *"},
      {"def f(**k, a): pass", "1:12: arguments cannot follow var-keyword argument"},
      {"def f(*a, *b): pass", "1:11: * argument may appear only once"},
      {"def f(/): pass", "1:7: at least one argument must precede /"},
      {"def f(a, /, b, /): pass", "1:16: / may appear only once"},
      {"def f(*a, /): pass", "1:11: / must be ahead of *"},
      {"def f(a, / *b): pass", "1:12: expected comma between / and *"},
      {"def f(*a=1): pass", "1:9: var-positional argument cannot have default value"},
      {"def f(**a=1): pass", "1:10: var-keyword argument cannot have default value"},
      {"def f((a)): pass", "1:7: Function parameters cannot be parenthesized"},
      {"lambda (a): 1", "1:8: Lambda expression parameters cannot be parenthesized"},
      {"def f(a=): pass", "1:8: expected default value expression"},
      {"def f[](): pass", "1:7: Type parameter list cannot be empty"},
      {"def f[T, T](): pass", "1:10: duplicate type parameter 'T'"},
      {"def f[*T: int](): pass", "1:9: cannot use bound with TypeVarTuple"},
      {"def f[**T: int](): pass", "1:10: cannot use bound with ParamSpec"},
      {"class C[T(): pass", "1:10: expected ',' or ']' in the type parameter list"},
      {"type X int", "1:8: expected '='"},
  });
}

TEST(Errors, Statements) {
  expectErrors({
      {"print x", "1:1: Missing parentheses in call to 'print'. Did you mean print(...)?"},
      {"from a import b,", "1:16: trailing comma not allowed without surrounding parentheses"},
      {"import a as b.c", "1:14: invalid syntax"},
      {"try:\n  x\ny", "3:1: expected 'except' or 'finally' block"},
      {"try:\n  x\nexcept A, B:\n  y", "3:8: multiple exception types must be parenthesized"},
      {"try:\n  x\nexcept* A:\n  y\nexcept B:\n  z",
       "5:1: cannot have both 'except' and 'except*' on the same 'try'"},
      {"try:\n  x\nexcept*:\n  y", "3:8: expected one or more exception types"},
      {"try:\n  x\nexcept:\n  y\nexcept A:\n  z", "3:1: default 'except:' must be last"},
      {"else: pass", "1:1: invalid syntax"},
      {"async x", "1:7: invalid syntax"},
      {"@a\nx = 1", "2:1: invalid syntax"},
  });
}

TEST(Errors, Patterns) {
  expectErrors({
      {"match x:\n  case a as _: pass", "2:13: cannot use '_' as a target"},
      {"match x:\n  case a as b.c: pass", "2:13: invalid pattern target"},
      {"match x:\n  case A(x=1, 2): pass", "2:15: positional patterns follow keyword patterns"},
      {"match x:\n  case {**r, 1: 2}: pass",
       "2:14: double star pattern must be the last in a mapping pattern"},
      {"match x:\n  case f'a': pass",
       "2:8: patterns may only match literals and attribute lookups"},
      {"match x:\n  case {f'a': 1}: pass",
       "2:9: mapping pattern keys may only match literals and attribute lookups"},
      {"match x:\n  case 1j + 2j: pass", "2:8: real number required in complex literal"},
      {"match x:\n  case 1 + 2: pass", "2:12: imaginary number required in complex literal"},
      {"match x:\n  case (*a): pass",
       "2:9: cannot use a starred pattern in a group; add a comma to make it a sequence"},
      {"match x:\n  case *a: pass", "2:10: invalid syntax"},
  });
}

/// The first mistake a reader would fix comes first: a lexical one, even on a later line, as in
/// CPython.
TEST(Errors, LexicalErrorsTakePrecedence) {
  EXPECT_EQ(errorOf("x = = 1\ny = 'a"), "2:5: unterminated string literal (detected at line 2)");
  EXPECT_EQ(errorOf("x = = 1\ny = (a"), "1:5: invalid syntax");
}

TEST(Errors, RenderingPointsAtTheText) {
  try {
    parseSource("def f(x):\n    return f(a b)\n");
    FAIL() << "accepted";
  } catch (const DiagnosticError &error) {
    EXPECT_STREQ(error.what(), "test.py:2:14: error: invalid syntax. Perhaps you forgot a comma?\n"
                               "    return f(a b)\n"
                               "             ^~~\n");
  }
}

} // namespace
} // namespace pellucid::syntax
