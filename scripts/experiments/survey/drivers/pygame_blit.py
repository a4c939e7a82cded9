"""pygame: pictures of 512 x 512 put on a surface of 1080p."""

import os

os.environ["PYGAME_HIDE_SUPPORT_PROMPT"] = "1"
import pygame
from repeat import noise, repeat

tile = pygame.image.frombuffer(noise(512 * 512 * 4), (512, 512), "RGBX")
screen = pygame.Surface((1920, 1080), 0, tile)


def blit() -> bytes:
    for x in range(0, 1400, 200):
        for y in (0, 256, 512):
            screen.blit(tile, (x, y))
    return pygame.image.tobytes(screen.subsurface((300, 300, 64, 64)), "RGB")


repeat(blit, 21 * 512 * 512 * 4)
