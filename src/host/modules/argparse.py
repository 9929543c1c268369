# SPDX-License-Identifier: Apache-2.0
import os as _os
import sys as _sys
import textwrap as _textwrap

SUPPRESS = "==SUPPRESS=="
OPTIONAL = "?"
ZERO_OR_MORE = "*"
ONE_OR_MORE = "+"
PARSER = "A..."
REMAINDER = "..."
_UNBOUNDED = 1 << 30


class ArgumentError(Exception):
    def __init__(self, argument, message):
        self.argument_name = _name_of(argument)
        self.message = message

    def __str__(self):
        if self.argument_name is None:
            return self.message
        return f"argument {self.argument_name}: {self.message}"


class ArgumentTypeError(Exception):
    pass


class Namespace:
    def __init__(self, **kwargs):
        for name in kwargs:
            setattr(self, name, kwargs[name])

    def __repr__(self):
        return f"Namespace({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def __eq__(self, other):
        return isinstance(other, Namespace) and dict(vars(self)) == dict(vars(other))

    def __contains__(self, key):
        return key in vars(self)


def _name_of(argument):
    if argument is None:
        return None
    if argument.option_strings:
        return "/".join(argument.option_strings)
    if argument.metavar not in (None, SUPPRESS):
        return argument.metavar
    if argument.dest not in (None, SUPPRESS):
        return argument.dest
    if argument.choices:
        return "{" + ",".join(str(choice) for choice in argument.choices) + "}"
    return None


# How usage and help are laid out.


class HelpFormatter:
    def __init__(self, prog, indent_increment=2, max_help_position=24, width=None):
        if width is None:
            width = int(_os.environ.get("COLUMNS") or 80) - 2
        self._prog = prog
        self._width = width
        self._indent = indent_increment
        self._max_help_position = min(max_help_position, max(width - 20, indent_increment * 2))

    def _split_lines(self, text, width):
        return _textwrap.wrap(" ".join(text.split()), width)

    def _fill_text(self, text, width, indent):
        return _textwrap.fill(" ".join(text.split()), width, initial_indent=indent, subsequent_indent=indent)

    def _get_help_string(self, action):
        return action.help

    def _get_default_metavar_for_optional(self, action):
        return action.dest.upper()

    def _get_default_metavar_for_positional(self, action):
        return action.dest

    def _metavars(self, action, default, count):
        if action.metavar is not None:
            result = action.metavar
        elif action.choices is not None:
            result = "{" + ",".join(str(choice) for choice in action.choices) + "}"
        else:
            result = default
        return result if isinstance(result, tuple) else (result,) * count

    def _format_args(self, action, default):
        nargs = action.nargs
        if nargs is None:
            return str(self._metavars(action, default, 1)[0])
        if nargs == OPTIONAL:
            return f"[{self._metavars(action, default, 1)[0]}]"
        if nargs == ZERO_OR_MORE:
            names = self._metavars(action, default, 1)
            return f"[{names[0]} [{names[1]} ...]]" if len(names) == 2 else f"[{names[0]} ...]"
        if nargs == ONE_OR_MORE:
            names = self._metavars(action, default, 2)
            return f"{names[0]} [{names[1]} ...]"
        if nargs == REMAINDER:
            return "..."
        if nargs == PARSER:
            return f"{self._metavars(action, default, 1)[0]} ..."
        if nargs == SUPPRESS:
            return ""
        return " ".join(str(name) for name in self._metavars(action, default, nargs))

    def _option_args(self, action):
        return self._format_args(action, self._get_default_metavar_for_optional(action))

    def _usage_part(self, action, group_member):
        if not action.option_strings:
            part = self._format_args(action, self._get_default_metavar_for_positional(action))
            if group_member and part[:1] == "[" and part[-1:] == "]":
                part = part[1:-1]
            return part
        part = action.format_usage() if hasattr(action, "format_usage") else action.option_strings[0]
        if action.nargs != 0:
            part = f"{action.option_strings[0]} {self._option_args(action)}"
        return part if action.required or group_member else f"[{part}]"

    def _usage_parts(self, actions, groups):
        parts, done = [], set()
        for action in actions:
            if id(action) in done or action.help is SUPPRESS:
                continue
            group = None
            for one in groups:
                if any(member is action for member in one._group_actions):
                    group = one
            members = [] if group is None else [a for a in group._group_actions if a.help is not SUPPRESS]
            if len(members) < 2:
                parts.append(self._usage_part(action, False))
                continue
            for member in members:
                done.add(id(member))
            joined = " | ".join(self._usage_part(member, True) for member in members)
            # Each member is a part of its own, so that lines break between them.
            opening, closing = ("(", ")") if group.required else ("[", "]")
            parts.append(opening + joined + closing)
        return [part for part in parts if part]

    def usage(self, usage, actions, groups, prefix=None):
        prefix = "usage: " if prefix is None else prefix
        if usage is SUPPRESS:
            return ""
        if usage is not None:
            return f"{prefix}{usage % dict(prog=self._prog)}\n\n"
        prog = self._prog
        options = self._usage_parts([a for a in actions if a.option_strings], groups)
        positionals = self._usage_parts([a for a in actions if not a.option_strings], groups)
        text = " ".join([prog] + options + positionals)
        width = max(self._width, 11)
        if len(prefix) + len(text) <= width:
            return f"{prefix}{text}\n\n"

        def lines_of(parts, indent, first=None):
            lines, line = [], []
            length = (len(first) if first is not None else len(indent)) - 1
            for part in parts:
                if length + 1 + len(part) > width and line:
                    lines.append(indent + " ".join(line))
                    line, length = [], len(indent) - 1
                line.append(part)
                length += len(part) + 1
            if line:
                lines.append(indent + " ".join(line))
            if first is not None:
                lines[0] = lines[0][len(indent) :]
            return lines

        if len(prefix) + len(prog) <= 0.75 * width:
            indent = " " * (len(prefix) + len(prog) + 1)
            if options:
                lines = lines_of([prog] + options, indent, prefix) + lines_of(positionals, indent)
            elif positionals:
                lines = lines_of([prog] + positionals, indent, prefix)
            else:
                lines = [prog]
        else:
            indent = " " * len(prefix)
            lines = lines_of(options + positionals, indent)
            if len(lines) > 1:
                lines = lines_of(options, indent) + lines_of(positionals, indent)
            lines = [prog] + lines
        joined = "\n".join(lines)
        return f"{prefix}{joined}\n\n"

    def _invocation(self, action):
        if not action.option_strings:
            return self._metavars(action, self._get_default_metavar_for_positional(action), 1)[0]
        if action.nargs == 0:
            return ", ".join(action.option_strings)
        args = self._option_args(action)
        return ", ".join(f"{option} {args}" for option in action.option_strings)

    def _expand_help(self, action):
        params = {name: value for name, value in vars(action).items() if value is not SUPPRESS}
        params["prog"] = self._prog
        for name, value in list(params.items()):
            if hasattr(value, "__name__"):
                params[name] = value.__name__
        if params.get("choices") is not None:
            params["choices"] = ", ".join(str(choice) for choice in params["choices"])
        return self._get_help_string(action) % params

    def _rows(self, actions, indent):
        rows = []
        for action in actions:
            if action.help is SUPPRESS:
                continue
            rows.append((indent, action))
            if isinstance(action, _SubParsersAction):
                rows += [(indent + self._indent, choice) for choice in action._choices_actions]
        return rows

    def text(self, text):
        if text is None or text is SUPPRESS:
            return ""
        if "%(prog)" in text:
            text = text % dict(prog=self._prog)
        return self._fill_text(text, max(self._width, 11), "") + "\n\n"

    def position(self, sections):
        longest = 0
        for actions in sections:
            for indent, action in self._rows(actions, self._indent):
                longest = max(longest, len(self._invocation(action)) + indent)
        return min(longest + 2, self._max_help_position)

    def section(self, title, description, actions, position):
        out = ""
        for indent, action in self._rows(actions, self._indent):
            header = self._invocation(action)
            room = position - indent - 2
            if not action.help or not action.help.strip():
                out += " " * indent + header + "\n"
                continue
            lines = self._split_lines(self._expand_help(action), max(self._width - position, 11))
            if len(header) <= room:
                out += " " * indent + header.ljust(room) + "  " + (lines[0] if lines else "") + "\n"
                lines = lines[1:]
            else:
                out += " " * indent + header + "\n"
            for line in lines:
                out += " " * position + line + "\n"
        about = ""
        if description and description is not SUPPRESS:
            if "%(prog)" in description:
                description = description % dict(prog=self._prog)
            pad = " " * self._indent
            about = self._fill_text(description, max(self._width - self._indent, 11), pad) + "\n\n"
        if not out and not about:
            return ""
        heading = f"{title}:\n" if title is not SUPPRESS and title is not None else ""
        return heading + about + out + "\n"


class RawDescriptionHelpFormatter(HelpFormatter):
    def _fill_text(self, text, width, indent):
        return "".join(indent + line for line in text.splitlines(keepends=True))


class RawTextHelpFormatter(RawDescriptionHelpFormatter):
    def _split_lines(self, text, width):
        return text.splitlines()


class ArgumentDefaultsHelpFormatter(HelpFormatter):
    def _get_help_string(self, action):
        text = "" if action.help is None else action.help
        if "%(default)" not in text and action.default is not SUPPRESS:
            if action.option_strings or action.nargs in (OPTIONAL, ZERO_OR_MORE):
                text += " (default: %(default)s)"
        return text


class MetavarTypeHelpFormatter(HelpFormatter):
    def _get_default_metavar_for_optional(self, action):
        return action.type.__name__

    def _get_default_metavar_for_positional(self, action):
        return action.type.__name__


# What an argument does.
