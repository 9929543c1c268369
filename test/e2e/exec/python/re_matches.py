# SPDX-License-Identifier: Apache-2.0
import re
m = re.match(r'(?P<a>\w+)\s(\d+)', 'foo 42 bar'); print(m.group(), m.group(1, 2), m['a'], m.groups(), m.groupdict(), m.start(2), m.end(), m.span('a'), m.lastgroup, m.re.pattern, m.string, m)
print(re.findall(r'\d+', 'a1b22'), re.findall(r'(\w)(\d)', 'a1b2'), re.sub(r'(\w)', r'<\1>', 'ab'), re.sub('a', lambda m: m.group().upper(), 'banana', count=2), re.subn('x', 'y', 'xx'), re.split(r'[,;]\s*', 'a, b;c'), re.split('(,)', 'a,b'), re.search('z', 'abc'), re.fullmatch(r'\d{3}', '123'), re.escape('a.b*c'), [m.start() for m in re.finditer('a', 'banana')], re.compile('A', re.I).match('a'), bool(re.match(r'(?i)abc', 'ABC')), re.sub(r'\s+', ' ', ' a  b '), re.findall(r'^\w', 'a\nb', re.M), re.match(r'a(?=b)', 'ab'), re.findall(r'(?<=\$)\d+', '$5 6'), re.sub(r'(?P<x>a)', r'\g<x>\g<0>', 'a'), re.match('.+?b', 'aabab').group(), re.compile(r'''a # c
  b''', re.X).match('ab'))
p = re.compile(r'(\d+)-(\d+)'); print(p.sub(r'\2-\1', '1-2'), p.groups, p.flags, p.search('x 3-4').expand(r'\1+\2'), p.findall('1-2 3-4'), p.pattern, p.match('a1-2', 1).span(), repr(p))
try: re.compile('(')
except re.error as e: print('re.error', e)
