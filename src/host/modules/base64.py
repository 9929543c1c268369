# SPDX-License-Identifier: Apache-2.0
_letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def b64encode(s, altchars=None):
    letters = _letters if altchars is None else _letters[:62] + altchars
    out = bytearray()
    for i in range(0, len(s), 3):
        part = s[i : i + 3]
        number = int.from_bytes(part + b"\0" * (3 - len(part)), "big")
        row = bytes([letters[number >> shift & 63] for shift in (18, 12, 6, 0)])
        out += row[: len(part) + 1] + b"=" * (3 - len(part))
    return bytes(out)


def b64decode(s, altchars=None, validate=False):
    if isinstance(s, str):
        s = s.encode("ascii")
    letters = _letters if altchars is None else _letters[:62] + altchars
    places = {letter: i for i, letter in enumerate(letters)}
    if validate and any([c not in places and c != 61 for c in s]):
        raise ValueError("Only base64 data is allowed")
    digits = [places[c] for c in s if c in places]
    padding = s.count(b"=")
    if (len(digits) + padding) % 4 or len(digits) % 4 == 1:
        raise ValueError("Incorrect padding")
    out = bytearray()
    for i in range(0, len(digits), 4):
        row = digits[i : i + 4]
        number = 0
        for digit in row + [0] * (4 - len(row)):
            number = number << 6 | digit
        out += number.to_bytes(3, "big")[: len(row) - 1]
    return bytes(out)


def standard_b64encode(s):
    return b64encode(s)


def standard_b64decode(s):
    return b64decode(s)


def urlsafe_b64encode(s):
    return b64encode(s, b"-_")


def urlsafe_b64decode(s):
    return b64decode(s, b"-_")


def b16encode(s):
    return s.hex().upper().encode()


def b16decode(s, casefold=False):
    text = s.decode() if not isinstance(s, str) else s
    if not casefold and text != text.upper():
        raise ValueError("Non-base16 digit found")
    return bytes.fromhex(text)
