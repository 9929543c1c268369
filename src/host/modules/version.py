# SPDX-License-Identifier: Apache-2.0
class Version:
    def __init__(self, version):
        self.text = str(version)
        self.release = tuple(number(part) for part in self.text.split("+")[0].split("."))
        while len(self.release) > 1 and self.release[-1] == 0:
            self.release = self.release[:-1]

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<Version('{self.text}')>"

    def __eq__(self, other):
        return self.release == other.release

    def __hash__(self):
        return hash(self.release)

    def __ne__(self, other):
        return self.release != other.release

    def __lt__(self, other):
        return self.release < other.release

    def __le__(self, other):
        return self.release <= other.release

    def __gt__(self, other):
        return self.release > other.release

    def __ge__(self, other):
        return self.release >= other.release

    @property
    def major(self):
        return self.release[0]

    @property
    def minor(self):
        return self.release[1] if len(self.release) > 1 else 0


def number(text):
    digits = ""
    for c in text:
        if c not in "0123456789":
            break
        digits += c
    return int(digits) if digits else 0


def parse(version):
    return Version(version)
