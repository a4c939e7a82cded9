/* Opens the library that it is given, copies with its threads, and closes it, again and again: the
 * threads must be gone before their code is. So do children that no handler of fork is called in,
 * and that have none of the threads.
 *
 * Usage: closing_check LIBRARY
 * Prints `ok` or `FAIL: ...`; exits 1 where something failed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "harness.h"

enum { BYTES = 1000000, ROUNDS = 200 };

int main(int count, char** words) {
    static char from[BYTES], to[BYTES];
    size_t most = 0;
    for (int i = 0; i < ROUNDS; ++i) {
        void* library = count == 2 ? dlopen(words[1], RTLD_NOW) : 0;
        plain_function copy = 0;
        if (library) *(void**)&copy = dlsym(library, "asterope_memcpy_mt");
        if (!copy) {
            printf("FAIL: cannot open: %s\n", dlerror());
            return 1;
        }
        memset(from, i, BYTES);
        for (int calls = i % 3; calls >= 0; --calls) copy(to, from, BYTES);
        if (memcmp(from, to, BYTES)) {
            printf("FAIL: copies wrongly\n");
            return 1;
        }
        if (threads_of_process() > most) most = threads_of_process();
        const pid_t child = i % 4 ? -1 : (pid_t)syscall(SYS_fork);
        int status = 0;
        dlclose(library);
        if (child > 0 && (waitpid(child, &status, 0) != child || status != 0)) {
            printf("FAIL: a child ends with status %d\n", status);
            return 1;
        }
        if (threads_in_the_end(1) != 1) {
            printf("FAIL: %zu threads are left\n", threads_of_process());
            return 1;
        }
        if (dlopen(words[1], RTLD_NOW | RTLD_NOLOAD)) {
            printf("FAIL: the library is not closed\n");
            return 1;
        }
        if (child == 0) return 0;
    }
    printf("%zu threads\nok\n", most);
    return 0;
}
