"""How far apart two colours are, to those who see red and green and to those who do not.

Simulation: Machado, Oliveira and Fernandes, A Physiologically-based Model for Simulation of Color
Vision Deficiency (2009), severity 1. Distance: CIEDE2000 (Sharma, Wu and Dalal 2005). Contrast:
WCAG 2.2."""

import math

VISION = {
    "trichromat": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanope": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranope": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}
TO_XYZ = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]
WHITE = (0.95047, 1.0, 1.08883)


def linear(colour):
    """Of "#rrggbb"."""
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def lab(colour, vision):
    seen = [min(1, max(0, share)) for share in times(VISION[vision], linear(colour))]
    x, y, z = (
        share ** (1 / 3) if share > 216 / 24389 else (24389 / 27 * share + 16) / 116
        for share in (a / b for a, b in zip(times(TO_XYZ, seen), WHITE, strict=True))
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(one, other, vision):
    """1 can just be told apart when side by side."""
    (l1, a1, b1), (l2, a2, b2) = lab(one, vision), lab(other, vision)
    chroma = (math.hypot(a1, b1) + math.hypot(a2, b2)) / 2
    g = (1 - math.sqrt(chroma**7 / (chroma**7 + 25**7))) / 2
    a1, a2 = a1 * (1 + g), a2 * (1 + g)
    c1, c2 = math.hypot(a1, b1), math.hypot(a2, b2)
    h1, h2 = math.degrees(math.atan2(b1, a1)) % 360, math.degrees(math.atan2(b2, a2)) % 360
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0
    hue = (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2
    light, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    t = (
        1
        - 0.17 * math.cos(math.radians(hue - 30))
        + 0.24 * math.cos(math.radians(2 * hue))
        + 0.32 * math.cos(math.radians(3 * hue + 6))
        - 0.20 * math.cos(math.radians(4 * hue - 63))
    )
    lightness = (l2 - l1) / (1 + 0.015 * (light - 50) ** 2 / math.sqrt(20 + (light - 50) ** 2))
    chromas = (c2 - c1) / (1 + 0.045 * chroma)
    hues = 2 * math.sqrt(c1 * c2) * math.sin(math.radians(turn / 2)) / (1 + 0.015 * chroma * t)
    rotation = -2 * math.sqrt(chroma**7 / (chroma**7 + 25**7))
    rotation *= math.sin(math.radians(60 * math.exp(-(((hue - 275) / 25) ** 2))))
    return math.sqrt(lightness**2 + chromas**2 + hues**2 + rotation * chromas * hues)


def contrast(one, other):
    """From 1 to 21."""
    low, high = sorted(times(TO_XYZ, linear(colour))[1] for colour in (one, other))
    return (high + 0.05) / (low + 0.05)
