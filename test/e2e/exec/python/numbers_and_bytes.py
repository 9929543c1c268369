# SPDX-License-Identifier: Apache-2.0
print((5).bit_length(), (255).to_bytes(2, 'big'), int.from_bytes(b'\x01\x02', 'little'), (10).bit_count(), (-7) // 2, -7 % 3, divmod(-7, 3), 7 .__add__(1), (3).conjugate(), (3).real, (6).as_integer_ratio(), 2**-1, 10**20, int('ff', 16), int('0b11', 0), int(' 42 '), int(-3.9), round(2.5), round(-2.567, 2), abs(-3), pow(2, 10, 1000), hex(255), oct(8), bin(-5))
print((0.5).as_integer_ratio(), (2.0).is_integer(), (1.5).hex(), float.fromhex('0x1.8p+0'), float('inf'), -float('inf'), float('1e-3'), (3.7).__floor__(), (3.2).__ceil__(), 7.5 // 2, -7.5 % 2, 1e308 * 10, round(1234.5678, -2), float.max if 0 else 1.0.__class__)

# ---
b = b'abc\x00\xff'; print(b, len(b), b[0], b[1:3], b.hex(), bytes([1, 2]), bytearray(b'xy'), b + b'd', b'abc'.decode(), 'é'.encode(), 'é'.encode('utf-8').decode('utf-8'), b'a' in b, b.startswith(b'ab'), bytes(3), bytes('hi', 'utf8'), b'a,b'.split(b','), b' x '.strip(), b'x' * 3, list(b'ab'), b == b'abc\x00\xff', hash(b'a') == hash(b'a'), bytes.fromhex('0aff'), b''.join([b'a', b'b']), b'%d' % 3)
ba = bytearray(b'abc'); ba[0] = 65; ba.append(66); ba.extend(b'cd'); print(ba, ba.decode(), bytes(ba))
