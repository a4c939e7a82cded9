/* Copies overlapping buffers with memcpy. */
#include <stdio.h>
#include <string.h>
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;
int main(void)
{
    static unsigned char text[6000];
    for (int i = 0; i < 6000; ++i) text[i] = (unsigned char)(i * 7);
    copy(text + 40, text, 5000);
    for (int i = 0; i < 5000; ++i) {
        if (text[i + 40] != (unsigned char)(i * 7)) return 1;
    }
    return puts("right") < 0;
}
