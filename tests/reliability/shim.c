/* Calls of the C library that fail on demand, kill the process or are noted, for files below one
 * directory.
 *
 * Loaded by LD_PRELOAD; the test that runs in the process arms it by `shim_arm`, and `shim_disarm`
 * returns how many calls were counted. What it counts depends on the mode: reads, or changes of the
 * disk.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OFF, READS, WRITES, SYNCS, RENAMES, CHANGES, NOTE, KILL };

static char prefix[PATH_MAX], patterns[PATH_MAX];
static volatile int mode = OFF, error_number = 0, sticky = 0;
static volatile long nth = 0, hits = 0;
static char noted[1 << 20];
static volatile long length_noted = 0;

/* `files` are patterns of paths below the directory, each with a line feed at its end; none: all. */
void shim_arm(const char *directory, const char *files, int what, int number, long at, int stays) {
    mode = OFF;
    strncpy(prefix, directory, sizeof prefix - 1);
    strncpy(patterns, files, sizeof patterns - 1);
    error_number = number;
    nth = at;
    sticky = stays;
    hits = length_noted = 0;
    memset(noted, 0, sizeof noted);
    mode = what;
}

/* What was created, renamed and synced since the directory was armed, a line each. */
const char *shim_noted(void) { return noted; }

long shim_disarm(void) {
    mode = OFF;
    return hits;
}

static int is_chosen(const char *path) {
    char pattern[PATH_MAX];
    if (patterns[0] == 0) return 1;
    for (const char *at = patterns; *at; at += strlen(pattern) + 1) {
        size_t length = strcspn(at, "\n");
        memcpy(pattern, at, length);
        pattern[length] = 0;
        if (fnmatch(pattern, path, 0) == 0) return 1;
    }
    return 0;
}

static int is_below(const char *path) {
    char whole[PATH_MAX];
    if (path == NULL || mode == OFF) return 0;
    if (path[0] != '/') {
        if (getcwd(whole, sizeof whole) == NULL) return 0;
        size_t length = strlen(whole);
        snprintf(whole + length, sizeof whole - length, "/%s", path);
        path = whole;
    }
    size_t length = strlen(prefix);
    if (strncmp(path, prefix, length) != 0 || (path[length] != 0 && path[length] != '/')) return 0;
    return is_chosen(path + length + (path[length] == '/'));
}

static int is_file_below(int file) {
    char link[64], path[PATH_MAX];
    if (mode == OFF || file < 3) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_below(path);
}

static void note(const char *what, const char *path) {
    char line[PATH_MAX + 32];
    if (mode != NOTE) return;
    long length = snprintf(line, sizeof line, "%s %s\n", what, path);
    long at = __sync_fetch_and_add(&length_noted, length);
    if (at + length < (long)sizeof noted) memcpy(noted + at, line, length);
}

static void note_file(const char *what, int file) {
    char link[64], path[PATH_MAX];
    if (mode != NOTE || !is_file_below(file)) return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length < 0 ? 0 : length] = 0;
    note(what, path);
}

/* Whether a call that is counted is to fail: the n-th, those from it on, or all if n is 0. */
static int fails(void) {
    long now = __sync_add_and_fetch(&hits, 1);
    if (nth != 0 && now != nth && !(sticky && now > nth)) return 0;
    errno = error_number;
    return 1;
}

/* End the process, as kill -9 does, at the n-th change of the disk. */
static void die(void) {
    if (mode == KILL && __sync_add_and_fetch(&hits, 1) == nth) kill(getpid(), SIGKILL);
}

#define REAL(name) \
    static __typeof__(name) *real; \
    if (!real) real = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static int refuses_open(const char *path, int flags) {
    if (!is_below(path)) return 0;
    if ((mode == WRITES || mode == CHANGES) && (flags & O_CREAT) && access(path, F_OK) != 0) return fails();
    if (mode == CHANGES && (flags & O_TRUNC)) return fails();
    if (mode == NOTE && (flags & O_CREAT) && access(path, F_OK) != 0) note("create", path);
    if (mode == KILL && (flags & O_CREAT) && access(path, F_OK) != 0) die();
    return 0;
}

#define OPENS(name) \
    int name(const char *path, int flags, ...) { \
        REAL(name); \
        va_list more; \
        va_start(more, flags); \
        mode_t bits = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0; \
        va_end(more); \
        return refuses_open(path, flags) ? -1 : real(path, flags, bits); \
    }
OPENS(open)
OPENS(open64)

int openat(int at, const char *path, int flags, ...) {
    REAL(openat);
    va_list more;
    va_start(more, flags);
    mode_t bits = (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0;
    va_end(more);
    return refuses_open(path, flags) ? -1 : real(at, path, flags, bits);
}

#define READS_FILE(name, result, list, given) \
    result name list { \
        REAL(name); \
        if (mode == READS && is_file_below(file) && fails()) return -1; \
        return real given; \
    }
READS_FILE(read, ssize_t, (int file, void *data, size_t size), (file, data, size))
READS_FILE(pread, ssize_t, (int file, void *data, size_t size, off_t at), (file, data, size, at))
READS_FILE(pread64, ssize_t, (int file, void *data, size_t size, off64_t at), (file, data, size, at))
READS_FILE(readv, ssize_t, (int file, const struct iovec *data, int count), (file, data, count))

#undef fread_unlocked
size_t fread_unlocked(void *data, size_t size, size_t count, FILE *stream) {
    REAL(fread_unlocked);
    if (mode == READS && is_file_below(fileno(stream)) && fails()) return 0;
    return real(data, size, count, stream);
}

/* A process that is killed has written nothing of the data, or a part of it. */
#define WRITES_FILE(name, result, list, given, part) \
    result name list { \
        REAL(name); \
        if ((mode == WRITES || mode == CHANGES) && is_file_below(file) && fails()) return -1; \
        if (mode == KILL && is_file_below(file)) { \
            die(); \
            if (hits + 1 == nth && real part < 0) return -1; \
            die(); \
        } \
        return real given; \
    }
WRITES_FILE(write, ssize_t, (int file, const void *data, size_t size), (file, data, size),
            (file, data, size / 2))
WRITES_FILE(pwrite, ssize_t, (int file, const void *data, size_t size, off_t at),
            (file, data, size, at), (file, data, size / 2, at))
WRITES_FILE(pwrite64, ssize_t, (int file, const void *data, size_t size, off64_t at),
            (file, data, size, at), (file, data, size / 2, at))
WRITES_FILE(writev, ssize_t, (int file, const struct iovec *data, int count), (file, data, count),
            (file, data, count / 2))
WRITES_FILE(ftruncate, int, (int file, off_t size), (file, size), (file, size))
WRITES_FILE(ftruncate64, int, (int file, off64_t size), (file, size), (file, size))

#define SYNCS_FILE(name) \
    int name(int file) { \
        REAL(name); \
        if ((mode == SYNCS || mode == CHANGES) && is_file_below(file) && fails()) return -1; \
        note_file("sync", file); \
        if (mode == KILL && is_file_below(file)) die(); \
        return real(file); \
    }
SYNCS_FILE(fsync)
SYNCS_FILE(fdatasync)

#define CHANGES_PATH(name, list, given) \
    int name list { \
        REAL(name); \
        if ((mode == RENAMES || mode == CHANGES) && is_below(path) && fails()) return -1; \
        if (mode == KILL && is_below(path)) die(); \
        return real given; \
    }
CHANGES_PATH(unlink, (const char *path), (path))
CHANGES_PATH(rmdir, (const char *path), (path))

int link(const char *path, const char *target) {
    REAL(link);
    if ((mode == RENAMES || mode == CHANGES) && is_below(target) && fails()) return -1;
    if (mode == KILL && is_below(target)) die();
    return real(path, target);
}

int unlinkat(int at, const char *path, int flags) {
    REAL(unlinkat);
    if (mode == KILL && is_file_below(at)) die();
    return real(at, path, flags);
}

int linkat(int from, const char *path, int to, const char *target, int flags) {
    REAL(linkat);
    if ((mode == RENAMES || mode == CHANGES) && is_below(target) && fails()) return -1;
    return real(from, path, to, target, flags);
}

int rename(const char *path, const char *target) {
    REAL(rename);
    if ((mode == RENAMES || mode == CHANGES) && (is_below(path) || is_below(target)) && fails()) return -1;
    if (is_below(target)) note("rename", target);
    if (mode == KILL && (is_below(path) || is_below(target))) die();
    return real(path, target);
}

int mkdir(const char *path, mode_t bits) {
    REAL(mkdir);
    if (is_below(path) && access(path, F_OK) != 0) note("create", path);
    if ((mode == CHANGES || mode == WRITES) && is_below(path) && access(path, F_OK) != 0 && fails())
        return -1;
    if (mode == KILL && is_below(path) && access(path, F_OK) != 0) die();
    return real(path, bits);
}
