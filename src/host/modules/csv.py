# SPDX-License-Identifier: Apache-2.0
"""Rows of comma-separated values, in the dialect `excel` and what arguments change of it."""

QUOTE_MINIMAL, QUOTE_ALL, QUOTE_NONNUMERIC, QUOTE_NONE = 0, 1, 2, 3


class Error(Exception):
    pass


class _Dialect:
    def __init__(self, dialect="excel", delimiter=None, quotechar='"', lineterminator="\r\n", quoting=QUOTE_MINIMAL, skipinitialspace=False, doublequote=True):
        if dialect not in ("excel", "excel-tab", "unix"):
            raise Error("unknown dialect")
        if not doublequote or quoting == QUOTE_NONE:
            raise NotImplementedError("csv without doubled quotes")
        self.delimiter = delimiter if delimiter is not None else "\t" if dialect == "excel-tab" else ","
        self.quotechar, self.skipinitialspace = quotechar, skipinitialspace
        self.lineterminator = "\n" if dialect == "unix" else lineterminator
        self.quoting = QUOTE_ALL if dialect == "unix" else quoting


class writer:
    def __init__(self, csvfile, dialect="excel", **options):
        self._file, self.dialect = csvfile, _Dialect(dialect, **options)

    def _field(self, value):
        d = self.dialect
        text = "" if value is None else repr(value) if isinstance(value, float) else str(value)
        special = any(c in text for c in (d.delimiter, d.quotechar, "\r", "\n"))
        isNumber = isinstance(value, (int, float))
        if d.quoting == QUOTE_ALL or special or (d.quoting == QUOTE_NONNUMERIC and not isNumber):
            return d.quotechar + text.replace(d.quotechar, d.quotechar * 2) + d.quotechar
        return text

    def writerow(self, row):
        fields = [self._field(value) for value in row]
        text = self.dialect.delimiter.join(fields)
        if fields == [""]:
            text = self.dialect.quotechar * 2
        return self._file.write(text + self.dialect.lineterminator)

    def writerows(self, rows):
        for row in rows:
            self.writerow(row)


class reader:
    def __init__(self, csvfile, dialect="excel", **options):
        self._lines, self.dialect, self.line_num = iter(csvfile), _Dialect(dialect, **options), 0

    def __iter__(self):
        return self

    def _fields(self, line):
        """The fields of a row, which goes on in the next line while a quote is open."""
        d, fields, text, quoted, was_quoted, i = self.dialect, [], "", False, False, 0
        while True:
            if i >= len(line):
                if not quoted:
                    break
                try:
                    line, i = next(self._lines), 0
                except StopIteration:
                    break
                self.line_num += 1
                continue
            c = line[i]
            i += 1
            if quoted:
                if c != d.quotechar:
                    text += c
                elif line[i:i + 1] == d.quotechar:
                    text += c
                    i += 1
                else:
                    quoted = False
            elif c == d.quotechar and text == "" and not was_quoted:
                quoted = was_quoted = True
            elif c == d.delimiter:
                fields.append(self._value(text, was_quoted))
                text, was_quoted = "", False
            elif c in "\r\n":
                break
            elif not (c == " " and d.skipinitialspace and text == "" and not was_quoted):
                text += c
        if not fields and text == "" and not was_quoted:
            return []
        return fields + [self._value(text, was_quoted)]

    def _value(self, text, was_quoted):
        return float(text) if self.dialect.quoting == QUOTE_NONNUMERIC and not was_quoted else text

    def __next__(self):
        line = next(self._lines)
        self.line_num += 1
        return self._fields(line)


class DictWriter:
    def __init__(self, f, fieldnames, restval="", extrasaction="raise", dialect="excel", **options):
        if extrasaction not in ("raise", "ignore"):
            raise ValueError(f"extrasaction ({extrasaction}) must be 'raise' or 'ignore'")
        self.fieldnames, self.restval, self.extrasaction = list(fieldnames), restval, extrasaction
        self.writer = writer(f, dialect, **options)

    def writeheader(self):
        return self.writer.writerow(self.fieldnames)

    def writerow(self, row):
        if self.extrasaction == "raise":
            wrong = [name for name in row.keys() if name not in self.fieldnames]
            if wrong:
                raise ValueError("dict contains fields not in fieldnames: " + ", ".join([repr(name) for name in wrong]))
        return self.writer.writerow([row.get(name, self.restval) for name in self.fieldnames])

    def writerows(self, rows):
        for row in rows:
            self.writerow(row)


class DictReader:
    def __init__(self, f, fieldnames=None, restkey=None, restval=None, dialect="excel", **options):
        self.reader, self._names, self.restkey, self.restval = reader(f, dialect, **options), fieldnames, restkey, restval

    @property
    def fieldnames(self):
        if self._names is None:
            try:
                self._names = next(self.reader)
            except StopIteration:
                pass
        return self._names

    @property
    def line_num(self):
        return self.reader.line_num

    def __iter__(self):
        return self

    def __next__(self):
        names = self.fieldnames
        row = next(self.reader)
        while row == []:
            row = next(self.reader)
        out = dict(zip(names, row))
        if len(row) > len(names):
            out[self.restkey] = row[len(names):]
        for name in names[len(row):]:
            out[name] = self.restval
        return out
