/* Finds the program's name, and the other libraries in the process that have functions of these
 * names. So a reader knows the real copies behind "libc" and "the routine". */
#include "recorder.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Only glibc has it. */
extern int dladdr1(const void *, Dl_info *, void **, int)
    __attribute__((weak, visibility("default")));

struct raw_others others;

static void keep_name(char *name, const char *file)
{
    size_t bytes = 0;
    for (; file[bytes] && bytes + 1 < RAW_NAME; ++bytes) name[bytes] = file[bytes];
    name[bytes] = 0;
}

static int look_up(const void *address, Dl_info *info)
{
    return address && dladdr(address, info) != 0 && info->dli_fname;
}

/* Whether a symbol is the function itself. If a program takes the function's address, the symbol
 * may be a place in the program that jumps to it. */
static int is_defined_there(const void *address)
{
    Dl_info info;
    void *entry = NULL;
    if (!dladdr1 || !dladdr1(address, &info, &entry, RTLD_DL_SYMENT) || !entry) return 0;
    return ((const ElfW(Sym) *)entry)->st_shndx != SHN_UNDEF;
}

void find_others(void)
{
    static const char *const initializers[] = {"__asan_init", "__tsan_init", "__msan_init",
                                               "__hwasan_init"};
    Dl_info own, libcs, found;
    const long bytes = syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", others.program,
                               (size_t)RAW_NAME - 1);
    if (bytes < 0) others.program[0] = 0;
    /* a function that libc has, but neither sanitizers nor older libraries of threads */
    if (!look_up(&others, &own) || !look_up(dlsym(RTLD_NEXT, "imaxdiv"), &libcs)) return;
    if (look_up((void *)next_function[RAW_MEMCPY], &found) && found.dli_fbase != libcs.dli_fbase)
        keep_name(others.next, found.dli_fname);
    void *first = dlsym(RTLD_DEFAULT, "memcpy");
    if (look_up(first, &found) && found.dli_fbase != own.dli_fbase && is_defined_there(first))
        keep_name(others.first, found.dli_fname);
    if (look_up(dlsym(RTLD_DEFAULT, "asterope_memcpy"), &found))
        keep_name(others.routine, found.dli_fname);
    for (uint32_t i = 0; i < sizeof initializers / sizeof initializers[0]; ++i) {
        if (dlsym(RTLD_DEFAULT, initializers[i])) others.sanitizer = i + 1;
    }
    dlerror(); /* forgets the missing symbols, which the program did not ask for */
}
