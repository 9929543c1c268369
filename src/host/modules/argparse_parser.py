# SPDX-License-Identifier: Apache-2.0
# --- the parser; part of argparse.py's namespace


class ArgumentParser:
    def __init__(
        self,
        prog=None,
        usage=None,
        description=None,
        epilog=None,
        parents=(),
        formatter_class=HelpFormatter,
        prefix_chars="-",
        fromfile_prefix_chars=None,
        argument_default=None,
        conflict_handler="error",
        add_help=True,
        allow_abbrev=True,
        exit_on_error=True,
    ):
        if prefix_chars != "-" or fromfile_prefix_chars is not None:
            raise NotImplementedError("argparse: prefix_chars and fromfile_prefix_chars are not supported")
        self.prog = _os.path.basename(_sys.argv[0]) if prog is None else prog
        self.usage, self.description, self.epilog = usage, description, epilog
        self.formatter_class, self.argument_default = formatter_class, argument_default
        self.conflict_handler, self.add_help = conflict_handler, add_help
        self.allow_abbrev, self.exit_on_error = allow_abbrev, exit_on_error
        self._actions, self._options, self._defaults, self._exclusive = [], {}, {}, []
        self._positionals = _Container(self, "positional arguments")
        self._optionals = _Container(self, "options")
        self._groups = [self._positionals, self._optionals]
        self._subparsers = None
        if add_help:
            self.add_argument("-h", "--help", action="help", default=SUPPRESS, help="show this help message and exit")
        for parent in parents:
            self._adopt(parent)

    def _adopt(self, parent):
        titles = {group.title: group for group in self._groups}
        for group in parent._groups:
            own = titles.get(group.title)
            if own is None:
                own = self.add_argument_group(group.title, group.description)
            for action in group._group_actions:
                self._register(own, action)
        self._exclusive += parent._exclusive
        self._defaults.update(parent._defaults)

    # Adding arguments.

    def add_argument(self, *args, **kwargs):
        return self._add(None, args, kwargs)

    def add_argument_group(self, title=None, description=None):
        group = _Container(self, title, description)
        self._groups.append(group)
        return group

    def add_mutually_exclusive_group(self, required=False):
        group = _MutuallyExclusiveGroup(self, None, required)
        self._exclusive.append(group)
        return group

    def add_subparsers(self, title=None, description=None, prog=None, dest=SUPPRESS, required=False, help=None, metavar=None, parser_class=None, action=None):
        if self._subparsers is not None:
            self.error("cannot have multiple subparser arguments")
        group = self._positionals
        if title is not None or description is not None:
            group = self.add_argument_group("subcommands" if title is None else title, description)
        if prog is None:
            positionals = [a for a in self._actions if not a.option_strings]
            formatter = self.formatter_class(prog=self.prog)
            prog = formatter.usage(self.usage, positionals, [], "").strip()
        self._subparsers = _SubParsersAction([], prog, type(self) if parser_class is None else parser_class, dest, required, help, metavar)
        self._register(group, self._subparsers)
        return self._subparsers

    def _add(self, container, args, kwargs):
        kwargs = dict(kwargs)
        if not args or (len(args) == 1 and not args[0].startswith("-")):
            if args and "dest" in kwargs:
                raise ValueError("dest supplied twice for positional argument")
            kwargs["dest"] = args[0] if args else kwargs["dest"]
            if "required" in kwargs:
                raise TypeError("'required' is an invalid argument for positionals")
            nargs = kwargs.get("nargs")
            kwargs["required"] = nargs not in (OPTIONAL, ZERO_OR_MORE, REMAINDER, SUPPRESS) or (nargs == ZERO_OR_MORE and "default" not in kwargs)
            kwargs["option_strings"] = []
        else:
            for option in args:
                if not option.startswith("-"):
                    raise ValueError(f"invalid option string {option!r}: must start with a character '-'")
            long = [option for option in args if option.startswith("--") and len(option) > 2]
            dest = kwargs.get("dest")
            if dest is None:
                dest = (long or list(args))[0].lstrip("-")
                if not dest:
                    raise ValueError(f"dest= is required for options like {args[0]!r}")
                dest = dest.replace("-", "_")
            kwargs["dest"] = dest
            kwargs["option_strings"] = list(args)
        if "default" not in kwargs:
            if kwargs["dest"] in self._defaults:
                kwargs["default"] = self._defaults[kwargs["dest"]]
            elif self.argument_default is not None:
                kwargs["default"] = self.argument_default
        kind = kwargs.pop("action", None)
        maker = kind
        if kind is None or isinstance(kind, str):
            if kind not in _ACTIONS:
                raise ValueError(f'unknown action "{kind}"')
            maker = _ACTIONS[kind]
            if not kwargs["option_strings"] and issubclass(maker, (_StoreConstAction, _CountAction)):
                kwargs.pop("required")
        action = maker(**kwargs)
        if action.type is not None and not callable(action.type):
            raise ValueError(f"{action.type!r} is not callable")
        return self._register(container, action)

    def _register(self, container, action):
        exclusive = None
        if isinstance(container, _MutuallyExclusiveGroup):
            exclusive, container = container, container._container
            if action.required and not action.option_strings:
                raise ValueError("mutually exclusive arguments must be optional")
            exclusive._group_actions.append(action)
        if container is None:
            container = self._optionals if action.option_strings else self._positionals
        taken = [option for option in action.option_strings if option in self._options]
        if taken and self.conflict_handler == "resolve":
            for option in taken:
                other = self._options[option]
                other.option_strings.remove(option)
                if not other.option_strings:
                    self._actions.remove(other)
                    for group in self._groups:
                        if other in group._group_actions:
                            group._group_actions.remove(other)
        elif taken:
            raise ArgumentError(action, f"conflicting option string{'s' if len(taken) > 1 else ''}: {', '.join(taken)}")
        for option in action.option_strings:
            self._options[option] = action
        container._group_actions.append(action)
        self._actions.append(action)
        return action

    def set_defaults(self, **kwargs):
        self._defaults.update(kwargs)
        for action in self._actions:
            if action.dest in kwargs:
                action.default = kwargs[action.dest]

    def get_default(self, dest):
        for action in self._actions:
            if action.dest == dest and action.default is not None:
                return action.default
        return self._defaults.get(dest)

    # Reading a command line.

    def parse_args(self, args=None, namespace=None):
        known, unknown = self.parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return known

    def parse_known_args(self, args=None, namespace=None):
        args = list(_sys.argv[1:] if args is None else args)
        namespace = Namespace() if namespace is None else namespace
        for action in self._actions:
            if action.dest is not SUPPRESS and action.default is not SUPPRESS and not hasattr(namespace, action.dest):
                setattr(namespace, action.dest, action.default)
        for dest in self._defaults:
            if not hasattr(namespace, dest):
                setattr(namespace, dest, self._defaults[dest])
        if self.exit_on_error:
            try:
                unknown = _Reading(self, namespace, args).run()
            except ArgumentError as error:
                self.error(str(error))
        else:
            unknown = _Reading(self, namespace, args).run()
        if hasattr(namespace, "_unrecognized_args"):
            unknown += namespace._unrecognized_args
            delattr(namespace, "_unrecognized_args")
        return namespace, unknown

    parse_intermixed_args = parse_args

    def convert_arg_line_to_args(self, line):
        return [line]

    def _convert(self, action, text):
        if action.type is None:
            return text
        try:
            return action.type(text)
        except ArgumentTypeError as error:
            raise ArgumentError(action, str(error))
        except (TypeError, ValueError):
            name = getattr(action.type, "__name__", repr(action.type))
            raise ArgumentError(action, f"invalid {name} value: {text!r}")

    def _check(self, action, value):
        if action.choices is not None and value not in action.choices:
            choices = ", ".join(repr(choice) for choice in action.choices)
            raise ArgumentError(action, f"invalid choice: {value!r} (choose from {choices})")

    def _values(self, action, texts):
        nargs = action.nargs
        if nargs not in (PARSER, REMAINDER) and "--" in texts:
            texts = list(texts)
            texts.remove("--")
        if not texts and nargs == OPTIONAL:
            value = action.const if action.option_strings else action.default
            if isinstance(value, str):
                value = self._convert(action, value)
                self._check(action, value)
            return value
        if not texts and nargs == ZERO_OR_MORE and not action.option_strings:
            if action.default is not None:
                return action.default
            return []
        if len(texts) == 1 and nargs in (None, OPTIONAL):
            value = self._convert(action, texts[0])
            self._check(action, value)
            return value
        if nargs == SUPPRESS:
            return SUPPRESS
        values = [self._convert(action, text) for text in texts]
        if nargs == PARSER:
            self._check(action, values[0])
        elif nargs != REMAINDER:
            for value in values:
                self._check(action, value)
        return values

    # What is said.

    def _formatter(self):
        return self.formatter_class(prog=self.prog)

    def format_usage(self):
        return self._formatter().usage(self.usage, self._actions, self._exclusive).rstrip("\n") + "\n"

    def format_help(self):
        formatter = self._formatter()
        sections = [group for group in self._groups]
        position = formatter.position([group._group_actions for group in sections])
        out = formatter.usage(self.usage, self._actions, self._exclusive) + formatter.text(self.description)
        for group in sections:
            out += formatter.section(group.title, group.description, group._group_actions, position)
        return (out + formatter.text(self.epilog)).strip("\n") + "\n"

    def print_usage(self, file=None):
        self._print_message(self.format_usage(), _sys.stdout if file is None else file)

    def print_help(self, file=None):
        self._print_message(self.format_help(), _sys.stdout if file is None else file)

    def _print_message(self, message, file=None):
        if message:
            (_sys.stderr if file is None else file).write(message)

    def exit(self, status=0, message=None):
        if message:
            self._print_message(message, _sys.stderr)
        _sys.exit(status)

    def error(self, message):
        self.print_usage(_sys.stderr)
        self.exit(2, f"{self.prog}: error: {message}\n")


def _bounds(action):
    nargs = action.nargs
    if nargs is None:
        return 1, 1
    if nargs == OPTIONAL:
        return 0, 1
    if nargs in (ZERO_OR_MORE, REMAINDER):
        return 0, _UNBOUNDED
    if nargs in (ONE_OR_MORE, PARSER):
        return 1, _UNBOUNDED
    return (0, 0) if nargs == SUPPRESS else (nargs, nargs)


def _shares(actions, available):
    """How many arguments each takes, the first as many as it can; None when they are too few."""
    if not actions:
        return []
    least, most = _bounds(actions[0])
    rest = sum(_bounds(action)[0] for action in actions[1:])
    count = min(most, available - rest)
    if count < least:
        return None
    return [count] + _shares(actions[1:], available - count)


class _Reading:
    """One command line on its way into a namespace."""

    def __init__(self, parser, namespace, args):
        self.parser, self.namespace, self.args = parser, namespace, args
        self.extras, self.seen, self.given = [], set(), set()
        self.positionals = [a for a in parser._actions if not a.option_strings]
        # Of each argument: an option as (action, spelling, value), or None.
        self.kinds, plain = [], False
        negative_options = any(self._is_number(option) for option in parser._options)
        for arg in args:
            if plain:
                self.kinds.append(None)
            elif arg == "--":
                plain = True
                self.kinds.append("--")
            else:
                self.kinds.append(self._option(arg, negative_options))

    @staticmethod
    def _is_number(text):
        body = text[1:]
        whole, dot, part = body.partition(".")
        if not text.startswith("-"):
            return False
        return (whole.isdigit() and not dot) or (dot == "." and part.isdigit() and (whole == "" or whole.isdigit()))

    def _option(self, arg, negative_options):
        options = self.parser._options
        if not arg or arg[0] != "-":
            return None
        if arg in options:
            return options[arg], arg, None
        if len(arg) == 1:
            return None
        name, equals, value = arg.partition("=")
        if equals and name in options:
            return options[name], name, value
        found = []
        if arg.startswith("--"):
            if self.parser.allow_abbrev:
                found = [(options[o], o, value if equals else None) for o in options if o.startswith(name)]
        else:
            for option in options:
                if option == arg[:2]:
                    found.append((options[option], option, arg[2:]))
                elif self.parser.allow_abbrev and option.startswith(name):
                    found.append((options[option], option, value if equals else None))
        if len(found) > 1:
            matches = ", ".join(one[1] for one in found)
            raise ArgumentError(None, f"ambiguous option: {arg} could match {matches}")
        if found:
            return found[0]
        if self._is_number(arg) and not negative_options:
            return None
        if " " in arg:
            return None
        return None, arg, None

    def run(self):
        indices = [i for i, kind in enumerate(self.kinds) if isinstance(kind, tuple)]
        start, last = 0, indices[-1] if indices else -1
        while start <= last:
            following = min(i for i in indices if i >= start)
            if start != following:
                end = self._take_positionals(start)
                if end > start:
                    start = end
                    continue
            if start not in indices:
                self.extras += self.args[start:following]
                start = following
            start = self._take_option(start)
        end = self._take_positionals(start)
        self.extras += self.args[end:]
        self._finish()
        return self.extras

    def _available(self, start):
        end = start
        while end < len(self.kinds) and not isinstance(self.kinds[end], tuple):
            end += 1
        return end

    def _count(self, start, actions):
        """Arguments from `start` up to the next option; all of the rest where one takes the rest."""
        if actions and actions[-1].nargs in (PARSER, REMAINDER):
            return len(self.args) - start
        return self._available(start) - start

    def _apply(self, action, texts, spelling=None):
        self.seen.add(id(action))
        values = self.parser._values(action, texts)
        if values is not action.default:
            self.given.add(id(action))
            for group in self.parser._exclusive:
                if any(member is action for member in group._group_actions):
                    for other in group._group_actions:
                        if other is not action and id(other) in self.given:
                            raise ArgumentError(action, f"not allowed with argument {_name_of(other)}")
        if values is not SUPPRESS:
            action(self.parser, self.namespace, values, spelling)

    def _take_positionals(self, start):
        for taken in range(len(self.positionals), 0, -1):
            actions = self.positionals[:taken]
            counts = _shares_with_marks(actions, self.args[start : start + self._count(start, actions)])
            if counts is None:
                continue
            for action, count in zip(actions, counts):
                texts = self.args[start : start + count]
                start += count
                self._apply(action, texts)
            self.positionals = self.positionals[taken:]
            return start
        return start

    def _take_option(self, start):
        action, spelling, value = self.kinds[start]
        if action is None:
            self.extras.append(self.args[start])
            return start + 1
        while True:
            if value is not None:
                least, most = _bounds(action)
                if most == 0 and not spelling.startswith("--"):
                    # Several options of one letter behind one dash.
                    self._apply(action, [], spelling)
                    spelling, rest = "-" + value[0], value[1:]
                    if spelling not in self.parser._options:
                        raise ArgumentError(action, f"ignored explicit argument {value!r}")
                    action = self.parser._options[spelling]
                    value = rest[1:] if rest.startswith("=") else rest or None
                    continue
                if most == 0 or least > 1:
                    raise ArgumentError(action, f"ignored explicit argument {value!r}")
                self._apply(action, [value], spelling)
                return start + 1
            least, most = _bounds(action)
            following = self.args[start + 1 : start + 1 + self._count(start + 1, [action])]
            counts = _shares_with_marks([action], following)
            if counts is None:
                raise ArgumentError(action, _wanted(action))
            texts = following[: counts[0]]
            self._apply(action, texts, spelling)
            return start + 1 + counts[0]

    def _finish(self):
        missing = []
        for action in self.parser._actions:
            if id(action) in self.seen:
                continue
            if action.required:
                missing.append(_name_of(action))
            elif isinstance(action.default, str) and getattr(self.namespace, action.dest, None) is action.default:
                setattr(self.namespace, action.dest, self.parser._convert(action, action.default))
        if missing:
            self.parser.error(f"the following arguments are required: {', '.join(missing)}")
        for group in self.parser._exclusive:
            if group.required and not any(id(action) in self.given for action in group._group_actions):
                names = " ".join(_name_of(action) for action in group._group_actions if action.help is not SUPPRESS)
                self.parser.error(f"one of the arguments {names} is required")


def _shares_with_marks(actions, texts):
    """As _shares(), with a `--` among the arguments that none of them is."""
    marks = 1 if "--" in texts and not any(a.nargs in (PARSER, REMAINDER) for a in actions) else 0
    counts = _shares(actions, len(texts) - marks)
    if counts is None or not marks:
        return counts
    place, end = texts.index("--"), 0
    for i, count in enumerate(counts):
        end += count
        if place < end or (place == end and i + 1 == len(counts)):
            counts[i] += 1
            break
    return counts


def _wanted(action):
    words = {None: "expected one argument", OPTIONAL: "expected at most one argument", ONE_OR_MORE: "expected at least one argument"}
    if action.nargs in words:
        return words[action.nargs]
    return f"expected {action.nargs} argument{'' if action.nargs == 1 else 's'}"
