# SPDX-License-Identifier: Apache-2.0
"""Random numbers of the CPU that were left out: its generator goes on as if they had been drawn.

Numbers that the program draws later, such as the lengths of its texts, are thus those of a run without
vramscope. The generator is a Mersenne Twister (MT19937). Each bit of its words obeys one linear recurrence,
whose polynomial p(x) Matsumoto and Nishimura give in the paper that presents it ("Mersenne Twister", ACM
TOMACS 8(1), 1998, appendix A): the words that follow J steps later are sums of the first 19937 + 624 words,
chosen by the coefficients of x^J mod p(x). The jump takes less than a second, whatever J is, and is made
when the program draws again.
"""
import array
import ctypes
import functools
import sys

_WORDS, _MIDDLE, _TOP_BITS, _MATRIX = 624, 397, 1, 0x9908B0DF
_DEGREE = 32 * _WORDS - 31
_NEXT, _STATE = 16, 24  # places in the generator's state (CPUGeneratorImplStateLegacy of PyTorch)
_LEFT = 8

_counts = {}   # by operation, type and n: numbers drawn for 64 elements and for 64 + n
_pending = 0   # numbers that were not drawn
_since = None  # the state at which the first of them would have been drawn


def _state(generator):
    state = generator.get_state()
    return ctypes.string_at(state.data_ptr(), state.numel())


def _position(state):
    """How many words of the block were used; a new one follows 624."""
    left = int.from_bytes(state[_LEFT:_LEFT + 4], sys.byteorder)
    return _WORDS if left == 1 else int.from_bytes(state[_NEXT:_NEXT + 8], sys.byteorder)


def _count(torch, plan, key, tensor):
    """The numbers drawn for *tensor*, by those drawn for 64 elements and for a last part below 16."""
    rest = tensor.numel() % 16
    name = plan.name, tensor.dtype, rest
    if name not in _counts:
        drawn = []
        for n in (64, 64 + rest):
            generator = torch.Generator()
            generator.manual_seed(1)
            like = torch._VF.empty(n, dtype=tensor.dtype, device="cpu")
            plan.redispatch(key, like, generator=generator)
            drawn.append(_position(_state(generator)))
        _counts[name] = drawn
    whole, more = _counts[name]
    return (tensor.numel() - rest) * whole // 64 + more - whole


def skip(torch, plan, key, tensor):
    """*plan*'s operation does not draw the elements of *tensor*."""
    global _pending, _since
    now = _state(torch.default_generator)
    if now != _since:  # the first, or the program has set a state
        _pending, _since = 0, now
    _pending += _count(torch, plan, key, tensor)


def catch_up(torch):
    """The program draws: its generator gets the state after the numbers that were left out."""
    global _pending, _since
    count, _pending = _pending, 0
    if count and _state(torch.default_generator) == _since:
        state = torch.default_generator.get_state()
        ctypes.memmove(state.data_ptr(), _after(_since, count), len(_since))
        torch.default_generator.set_state(state)
    _since = None


def _after(state, count):
    """The state after *count* more numbers."""
    words = array.array("Q", state[_STATE:_STATE + 8 * _WORDS])
    block, used = divmod(_position(state) + count - 1, _WORDS)
    if block:
        words = _jump(list(words), block * _WORDS)
    result = bytearray(state)
    result[_LEFT:_LEFT + 4] = (_WORDS - used).to_bytes(4, sys.byteorder)
    result[_NEXT:_NEXT + 8] = (used + 1).to_bytes(8, sys.byteorder)
    result[_STATE:_STATE + 8 * _WORDS] = array.array("Q", words).tobytes()
    return bytes(result)


def _jump(words, steps):
    """The words that follow *steps* later. The recurrence holds from the second word on: 31 bits of the
    first one are never used."""
    for i in range(_DEGREE + 1):
        y = (words[i] & 0x80000000) | (words[i + 1] & 0x7FFFFFFF)
        words.append(words[i + _MIDDLE] ^ (y >> 1) ^ (_MATRIX if y & 1 else 0))
    data, size, total = array.array("I", words).tobytes(), 4 * _WORDS, 0
    for i, bit in enumerate(reversed(f"{_power(steps - 1):b}"), 1):
        if bit == "1":
            total ^= int.from_bytes(data[4 * i:4 * i + size], sys.byteorder)
    return array.array("I", total.to_bytes(size, sys.byteorder)).tolist()


def _power(n):
    """x^n mod p(x); the coefficients are the bits of a number."""
    result = 1
    for bit in f"{n:b}":
        result = _reduced(int(f"{result:b}", 4))  # a square has the same bits, apart by two
        if bit == "1":
            result = _reduced(result << 1)
    return result


def _reduced(a):
    while a.bit_length() > _DEGREE:
        high = a >> _DEGREE
        a &= (1 << _DEGREE) - 1
        for place in _places():
            a ^= high << place
    return a


@functools.cache
def _places():
    """The powers of x in p(x) below the highest one."""
    def times(a, n, count):
        for _ in range(count):  # (x^n + x^(n - 227))^count
            a = (a << n) ^ (a << n - _WORDS + _MIDDLE)
        return a

    total = times(times(1, _WORDS, 1), _WORDS - 1, 31)
    for i in range(32):
        if _MATRIX >> i & 1:
            total ^= times(times(1, _WORDS, 1), _WORDS - 1, 30 - i) if i < 31 else 1
    return [i for i in range(_DEGREE) if total >> i & 1]
