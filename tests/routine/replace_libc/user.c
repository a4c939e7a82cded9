/* Copies by a library's function, and by memcpy of its own. */
#include <stdio.h>
#include <string.h>
int own_is_tuned(void);
void *copy_of_library(void *to, const void *from, size_t bytes);
typedef void *copy_function(void *, const void *, size_t);
static copy_function *volatile own = memcpy;
int main(void)
{
    char text[] = "right", copy[sizeof text] = "wrong";
    copy_of_library(copy, text, sizeof text);
    printf("%s %d %d\n", copy, own_is_tuned(), own == copy_of_library);
    return 0;
}
