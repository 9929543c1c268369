# SPDX-License-Identifier: Apache-2.0
def _number(cell):
    return isinstance(cell, (int, float)) and not isinstance(cell, bool)


def _texts(column):
    """The cells of a column; numbers stand with their points below each other."""
    if not all(_number(cell) or cell is None for cell in column) or all(cell is None for cell in column):
        return [("" if cell is None else str(cell)) for cell in column], False
    isFloat = any(isinstance(cell, float) for cell in column)
    texts = ["" if cell is None else f"{cell:g}" if isFloat else str(cell) for cell in column]
    if isFloat:
        behind = [len(text) - text.find(".") if "." in text else 0 for text in texts]
        widest = max(behind)
        texts = [text + " " * (widest - after) for text, after in zip(texts, behind)]
    return texts, True


def tabulate(tabular_data, headers=(), tablefmt="simple", **options):
    if tablefmt not in ("simple", "plain", "github") or options:
        raise NotImplementedError(f"tabulate: tablefmt={tablefmt!r} {', '.join(options)}")
    rows, headers = [list(row) for row in tabular_data], [str(head) for head in headers]
    count = max([len(row) for row in rows] + [len(headers)], default=0)
    rows = [row + [None] * (count - len(row)) for row in rows]
    headers = [""] * (count - len(headers)) + headers if headers else []
    columns = [_texts([row[i] for row in rows]) for i in range(count)]
    widths = [max([len(text) for text in texts] + ([len(headers[i])] if headers else []), default=0) for i, (texts, _) in enumerate(columns)]
    place = lambda text, i: text.rjust(widths[i]) if columns[i][1] else text.ljust(widths[i])
    lines = [[place(columns[i][0][r], i) for i in range(count)] for r in range(len(rows))]
    head = [place(text, i) for i, text in enumerate(headers)]
    if tablefmt == "github":
        rule = ["-" * width for width in widths]
        return "\n".join("| " + " | ".join(cells) + " |" for cells in ([head, rule] if head else []) + lines)
    out = ["  ".join(cells).rstrip() for cells in ([head] if head else []) + lines]
    if tablefmt == "simple":
        rule = "  ".join("-" * width for width in widths)
        out = out[:1] + [rule] + out[1:] if head else [rule] + out + [rule]
    return "\n".join(out)
