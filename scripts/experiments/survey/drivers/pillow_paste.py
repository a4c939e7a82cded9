"""Pillow: half of a picture of 12 megapixels cut out, and pasted into another."""

from PIL import Image
from repeat import noise, repeat

size = (4000, 3000)
picture = Image.frombytes("RGBA", size, noise(4 * size[0] * size[1]))
target = Image.new("RGBA", size)


def paste() -> bytes:
    target.paste(picture.crop((1000, 0, 3000, 3000)), (0, 0))
    return target.getpixel((1999, 2999)).__repr__().encode()


repeat(paste, 2 * 4 * 2000 * 3000)
