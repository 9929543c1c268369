# SPDX-License-Identifier: Apache-2.0
# --- what an argument does; part of argparse.py's namespace


class Action:
    def __init__(self, option_strings, dest, nargs=None, const=None, default=None, type=None, choices=None, required=False, help=None, metavar=None):
        self.option_strings = option_strings
        self.dest = dest
        self.nargs = nargs
        self.const = const
        self.default = default
        self.type = type
        self.choices = choices
        self.required = required
        self.help = help
        self.metavar = metavar

    def format_usage(self):
        return self.option_strings[0]

    def __call__(self, parser, namespace, values, option_string=None):
        raise NotImplementedError(".__call__() not defined")


class _StoreAction(Action):
    def __init__(self, option_strings, dest, nargs=None, const=None, **kwargs):
        if nargs == 0:
            raise ValueError("nargs for store actions must be != 0; if you have nothing to store, actions such as store true or store const may be more appropriate")
        if const is not None and nargs != OPTIONAL:
            raise ValueError(f"nargs must be {OPTIONAL!r} to supply const")
        super().__init__(option_strings, dest, nargs=nargs, const=const, **kwargs)

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, values)


class _StoreConstAction(Action):
    def __init__(self, option_strings, dest, const=None, default=None, required=False, help=None, metavar=None):
        super().__init__(option_strings, dest, nargs=0, const=const, default=default, required=required, help=help)

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, self.const)


class _StoreTrueAction(_StoreConstAction):
    def __init__(self, option_strings, dest, default=False, required=False, help=None):
        super().__init__(option_strings, dest, const=True, default=default, required=required, help=help)


class _StoreFalseAction(_StoreConstAction):
    def __init__(self, option_strings, dest, default=True, required=False, help=None):
        super().__init__(option_strings, dest, const=False, default=default, required=required, help=help)


def _copy_items(items):
    return [] if items is None else list(items)


class _AppendAction(Action):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, _copy_items(getattr(namespace, self.dest, None)) + [values])


class _ExtendAction(_AppendAction):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, _copy_items(getattr(namespace, self.dest, None)) + list(values))


class _AppendConstAction(_StoreConstAction):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, _copy_items(getattr(namespace, self.dest, None)) + [self.const])


class _CountAction(Action):
    def __init__(self, option_strings, dest, default=None, required=False, help=None):
        super().__init__(option_strings, dest, nargs=0, default=default, required=required, help=help)

    def __call__(self, parser, namespace, values, option_string=None):
        count = getattr(namespace, self.dest, None)
        setattr(namespace, self.dest, (0 if count is None else count) + 1)


class _HelpAction(Action):
    def __init__(self, option_strings, dest=SUPPRESS, default=SUPPRESS, help=None):
        super().__init__(option_strings, dest, nargs=0, default=default, help=help)

    def __call__(self, parser, namespace, values, option_string=None):
        parser.print_help()
        parser.exit()


class _VersionAction(Action):
    def __init__(self, option_strings, version=None, dest=SUPPRESS, default=SUPPRESS, help=None):
        super().__init__(option_strings, dest, nargs=0, default=default, help=help or "show program's version number and exit")
        self.version = version

    def __call__(self, parser, namespace, values, option_string=None):
        version = parser.version if self.version is None else self.version
        parser._print_message(version % dict(prog=parser.prog) + "\n", _sys.stdout)
        parser.exit()


class BooleanOptionalAction(Action):
    def __init__(self, option_strings, dest, default=None, type=None, choices=None, required=False, help=None, metavar=None):
        both = []
        for option in option_strings:
            both.append(option)
            if option.startswith("--"):
                both.append("--no-" + option[2:])
        super().__init__(both, dest, nargs=0, default=default, required=required, help=help)

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, not option_string.startswith("--no-"))

    def format_usage(self):
        return " | ".join(self.option_strings)


class _ChoiceAction(Action):
    def __init__(self, name, aliases, help):
        shown = name + (f" ({', '.join(aliases)})" if aliases else "")
        super().__init__([], shown, help=help, metavar=shown)


class _SubParsersAction(Action):
    def __init__(self, option_strings, prog, parser_class, dest=SUPPRESS, required=False, help=None, metavar=None):
        self._prog_prefix = prog
        self._parser_class = parser_class
        self._name_parser_map = {}
        self._choices_actions = []
        super().__init__(option_strings, dest, nargs=PARSER, choices=self._name_parser_map, required=required, help=help, metavar=metavar)

    def add_parser(self, name, **kwargs):
        aliases = kwargs.pop("aliases", ())
        if kwargs.get("prog") is None:
            kwargs["prog"] = f"{self._prog_prefix} {name}"
        if "help" in kwargs:
            self._choices_actions.append(_ChoiceAction(name, aliases, kwargs.pop("help")))
        parser = self._parser_class(**kwargs)
        for each in (name, *aliases):
            if each in self._name_parser_map:
                raise ArgumentError(self, f"conflicting subparser: {each}")
            self._name_parser_map[each] = parser
        return parser

    def __call__(self, parser, namespace, values, option_string=None):
        name, rest = values[0], values[1:]
        if self.dest is not SUPPRESS:
            setattr(namespace, self.dest, name)
        own, unknown = self._name_parser_map[name].parse_known_args(rest, None)
        for key, value in vars(own).items():
            setattr(namespace, key, value)
        if unknown:
            setattr(namespace, "_unrecognized_args", getattr(namespace, "_unrecognized_args", []) + unknown)


class FileType:
    def __init__(self, mode="r", bufsize=-1, encoding=None, errors=None):
        self._mode = mode
        self._options = {"buffering": bufsize, "encoding": encoding, "errors": errors}

    def __call__(self, string):
        if string == "-":
            return _sys.stdin if "r" in self._mode else _sys.stdout
        try:
            return open(string, self._mode, **self._options)
        except OSError as error:
            raise ArgumentTypeError(f"can't open '{string}': {error}")


_ACTIONS = {
    None: _StoreAction,
    "store": _StoreAction,
    "store_const": _StoreConstAction,
    "store_true": _StoreTrueAction,
    "store_false": _StoreFalseAction,
    "append": _AppendAction,
    "append_const": _AppendConstAction,
    "count": _CountAction,
    "help": _HelpAction,
    "version": _VersionAction,
    "extend": _ExtendAction,
}


class _Container:
    def __init__(self, parser, title=None, description=None):
        self._parser = parser
        self.title = title
        self.description = description
        self._group_actions = []

    def add_argument(self, *args, **kwargs):
        return self._parser._add(self, args, kwargs)

    def add_mutually_exclusive_group(self, required=False):
        group = _MutuallyExclusiveGroup(self._parser, self, required)
        self._parser._exclusive.append(group)
        return group

    def set_defaults(self, **kwargs):
        self._parser.set_defaults(**kwargs)


class _MutuallyExclusiveGroup(_Container):
    def __init__(self, parser, container, required):
        super().__init__(parser)
        self._container = container
        self.required = required
