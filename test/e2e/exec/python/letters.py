# SPDX-License-Identifier: Apache-2.0
"""Letters, digits and spaces beyond ASCII: methods of str, patterns, repr."""
import re

for c in ("é", "É", "你", "²", "٣", "ß", "Σ", "ς", "ǆ", "ǅ", "Ⅷ", "½", "\u00a0", "\u3000", "ª", "ж", "あ", "\u0301", "😀", "İ", "ı", "ſ", "ﬁ", "aé", "é1", "É你", "ŉ", "Ꭰ", "ꭰ", "𝐀", "\u200b", "_é", "1é"):
    print(ascii(c), c.isalpha(), c.isalnum(), c.isdigit(), c.isdecimal(), c.isnumeric(), c.isupper(), c.islower(), c.isspace(), c.istitle(), c.isidentifier(), c.isprintable())
    print("  ", ascii(c.upper()), ascii(c.lower()), ascii(c.title()), ascii(c.capitalize()), ascii(c.swapcase()), ascii(c.casefold()), repr(c))
print("Crème brûlée ÀÉ".lower(), "straße".upper(), "école élan d'été".title(), "ÉCOLE Élan".capitalize(), "Straße".casefold() == "STRASSE".casefold())
print([word.lower() for word in ("ΑΣ", "ΟΔΟΣ ΑΣ", "Σ", "ΑΣΑ", "Α.Σ", "ΑΣ'", "ΑΣ'Α")])
print("a\u00a0b\u2003c d".split(), "a\u00a0b  c ".split(None, 1), "\u3000 x\u2028".strip(), "\u00a0x\u00a0".lstrip() == "x\u00a0", "é".strip("é"))
print(b"\xe9A".upper(), b"\xc3\xa9".isalpha(), b"A\xe9".lower(), b"\xa0x".strip(), b"\xb2".isdigit())
print(re.findall(r"\w+", "Über naïve 你好 x_1 ²"), re.sub(r"[^\w\s]", "", "é,ü! ß—ж"), re.findall(r"(?i)é", "É é e"), re.split(r"\W+", "a—b é"), re.findall(r"\b\w", "éa ab ça"), re.findall(r"\d", "٣3"))
print(re.findall(r"(?i)[à-ü]+", "ÀÉx éÜ"), re.findall(r"(?ai)\w+", "aé B"), re.findall(r"(?i)(é)\1", "éÉ ee"), re.findall(r"\s", "a\u00a0b\u3000c"), re.fullmatch(r"(?i)ΣΑΣ", "σας") is not None, re.findall(r"(?i)k", "K\u212a"))
print(sorted({c.lower() for c in "Ça ÇÀ étÉ" if c.isalpha()}), repr("\xa0\u200b\xadé\U000e0001"), f"{'é':>3}|{'ÀB'.lower():^6}|")
