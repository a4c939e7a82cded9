/* Opens the library that it is given, copies with its threads, and closes it, again and again: the
 * threads must be gone before their code is. So do children that no handler of fork is called in,
 * and that have none of the threads.
 *
 * Usage: closing_check LIBRARY
 * Prints `ok` or `FAIL: ...`; exits 1 where something failed. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/wait.h>

#include "harness.h"

enum { BYTES = 1000000, ROUNDS = 200 };

int main(int count, char** words) {
    static char from[BYTES], to[BYTES];
    size_t most = 0;
    for (int i = 0; i < ROUNDS; ++i) {
        void* library;
        plain_function copy;
        *(void**)&copy = function_of(words[count - 1], "asterope_memcpy_mt", &library);
        memset(from, i, BYTES);
        for (int calls = i % 3; calls >= 0; --calls) copy(to, from, BYTES);
        if (memcmp(from, to, BYTES)) die("copies wrongly", BYTES);
        if (threads_of_process() > most) most = threads_of_process();
        const pid_t child = i % 4 ? -1 : (pid_t)syscall(SYS_fork);
        int status = 0;
        dlclose(library);
        if (child > 0 && (waitpid(child, &status, 0) != child || status != 0)) {
            die("a child's status", (size_t)status);
        }
        if (threads_in_the_end(1) != 1) die("threads are left", threads_of_process());
        if (dlopen(words[1], RTLD_NOW | RTLD_NOLOAD)) die("the library is not closed", 0);
        if (child == 0) return 0;
    }
    printf("%zu threads\nok\n", most);
    return 0;
}
