if x:
    """a
b"""

    y = 'c\
d'
      z
f"{a}\
b"
f"""{a = }
{b}
"""
