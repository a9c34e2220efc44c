// What the Glibc module does not import, and what must happen in C.
#ifndef LOOP_CLINUX_SHIM_H
#define LOOP_CLINUX_SHIM_H

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

// The variables of this process, as name=value, ended by NULL.
static inline char **loop_environment(void) {
    extern char **environ;
    return environ;
}

// Writes what stdio has buffered for standard output. Returns 0, the errno of that write, or -1 if an earlier write
// failed.
static inline int loop_flush_output(void) {
    if (fflush(stdout) != 0) return errno;
    return ferror(stdout) ? -1 : 0;
}

// Names the calling thread; 15 bytes are kept.
static inline void loop_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

// Waits until a range of a file that was written is on its way to the disk: 0, or what went wrong. Not a sync. A file system
// that cannot do it has nothing to say.
static inline int loop_write_out(int descriptor, off_t offset, off_t count) {
    unsigned flags = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    if (syscall(SYS_sync_file_range, descriptor, offset, count, flags) == 0) return 0;
    return errno == ENOSYS || errno == EINVAL || errno == ESPIPE ? 0 : errno;
}

// Sends what was written to a file on its way to the disk, and waits for nothing. Not a sync.
static inline void loop_begin_write_out(int descriptor) {
    syscall(SYS_sync_file_range, descriptor, (off_t)0, (off_t)0, SYNC_FILE_RANGE_WRITE);
}

// Locks or unlocks one byte of an open file, without waiting. Returns 0 or errno. This is an open file description
// lock: it lasts until the description is closed, whatever the process does with other descriptors of the file.
static inline int loop_lock_byte(int descriptor, off_t place, int is_locked) {
    struct flock range = {.l_type = is_locked ? F_WRLCK : F_UNLCK, .l_whence = SEEK_SET, .l_start = place, .l_len = 1};
    enum { OFD_SETLK = 37 };
    int result;
    do result = fcntl(descriptor, OFD_SETLK, &range);
    while (result < 0 && errno == EINTR);
    return result < 0 ? errno : 0;
}

// Returns 1 if another descriptor has the byte locked, in any process, else 0.
static inline int loop_is_byte_locked(int descriptor, off_t place) {
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = place, .l_len = 1};
    enum { OFD_GETLK = 36 };
    return fcntl(descriptor, OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

// The flag of an opening that only holds what has the name. glibc has the plain name of it for GNU sources alone.
static const int loop_name_only = __O_PATH;

// Gives a file another name, and replaces nothing. 0, or -1 and errno.
static inline int loop_rename_to_unused(const char *path, const char *other) {
    return (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, other, RENAME_NOREPLACE);
}

// 1 if a process accepts connections at a Unix socket path, else 0.
static inline int loop_unix_is_listening(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof address.sun_path) return 0;
    memcpy(address.sun_path, path, length + 1);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return 0;
    int result = connect(descriptor, (struct sockaddr *)&address, sizeof address);
    // EAGAIN means a full backlog, so a process listens.
    int listening = result == 0 || errno == EAGAIN;
    close(descriptor);
    return listening;
}

// A Unix socket that listens at a path, for this user alone from its first moment on: Linux gives the file the permissions of the
// socket, less the umask. A socket file at which no process listens is replaced, anything else is not. The descriptor or -errno.
static inline int loop_unix_listen(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof address.sun_path) return -ENAMETOOLONG;
    memcpy(address.sun_path, path, length + 1);
    struct stat status;
    if (lstat(path, &status) == 0) {
        if (!S_ISSOCK(status.st_mode)) return -EEXIST;
        unlink(path);
    }
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    if (fchmod(descriptor, 0600) == 0 && bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0 &&
        listen(descriptor, SOMAXCONN) == 0)
        return descriptor;
    int code = errno;
    close(descriptor);
    return -code;
}

// Sends one datagram to a Unix socket at a path, or at a name in the abstract namespace after an "@". 0 or -errno.
static inline int loop_unix_send(const char *path, const void *bytes, size_t count) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof address.sun_path) return -ENAMETOOLONG;
    memcpy(address.sun_path, path, length);
    if (path[0] == '@') address.sun_path[0] = 0;
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    // The kernel counts an abstract name's bytes, so the length must end with the name.
    socklen_t size = offsetof(struct sockaddr_un, sun_path) + length + (path[0] == '@' ? 0 : 1);
    ssize_t sent = sendto(descriptor, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&address, size);
    int code = sent < 0 ? errno : 0;
    close(descriptor);
    return -code;
}

// Lets a listening socket of TCP drop the first packet of each new connection, or ends that. 0, or -1 and errno. Connections inherit
// the filter of their listener, so all other packets pass. (Linux kernel documentation, networking/filter)
static inline int loop_set_takes_connections(int listener, int takes) {
    int unused = 0;
    if (takes) return setsockopt(listener, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof unused);
    // A packet begins with the header of TCP, whose byte 13 has the flags. SYN without ACK is the first packet of a connection.
    enum { FLAGS = 13, SYN = 0x02, ACK = 0x10 };
    struct sock_filter instructions[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, FLAGS),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, SYN | ACK),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYN, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
    };
    struct sock_fprog program = {sizeof instructions / sizeof *instructions, instructions};
    return setsockopt(listener, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

// A pipe whose ends no other program inherits; reading from it does not wait. 0 or -errno.
static inline int loop_pipe(int *read_end, int *write_end) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0) return -errno;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    *read_end = ends[0];
    *write_end = ends[1];
    return 0;
}

// A descriptor that becomes readable when the process ends, or -errno where the kernel has none.
static inline int loop_pidfd_open(pid_t pid) {
#ifdef SYS_pidfd_open
    long result = syscall(SYS_pidfd_open, pid, 0);
    return result < 0 ? -errno : (int)result;
#else
    (void)pid;
    return -ENOSYS;
#endif
}

// Where the signals of this process are written, one byte each, by a handler: the descriptor of a pipe that never waits.
static int loop_signal_pipe = -1;

static inline void loop_signal_arrived(int number) {
    int before = errno;
    unsigned char byte = (unsigned char)number;
    ssize_t ignored = write(loop_signal_pipe, &byte, 1);
    (void)ignored;
    errno = before;
}

// From now on the signal is written to the descriptor instead of ending the process, whichever thread takes it. A SIGHUP
// that was ignored from the start (nohup) stays so. 0 or -errno.
static inline int loop_watch_signal(int number, int descriptor) {
    struct sigaction action = {.sa_handler = loop_signal_arrived, .sa_flags = SA_RESTART}, before;
    sigfillset(&action.sa_mask);
    loop_signal_pipe = descriptor;
    if (sigaction(number, NULL, &before) < 0) return -errno;
    if (number == SIGHUP && before.sa_handler == SIG_IGN) return 0;
    return sigaction(number, &action, NULL) < 0 ? -errno : 0;
}

// What a child is to be. Every pointer is prepared before the fork, so that the child allocates nothing.
struct loop_child {
    const char *path;
    char *const *arguments;
    char *const *environment;
    const char *directory;  // or NULL
    int input, output, errors;  // descriptors that become 0, 1 and 2; -1 keeps this process's
    int own_group;
    int death_signal;  // sent when the forking thread ends
};

// In the child: async-signal-safe calls only. Returns only on failure.
static inline int loop_child_become(const struct loop_child *child, pid_t parent) {
    sigset_t none;
    struct sigaction standard = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++) sigaction(number, &standard, NULL);
    if (child->own_group && setpgid(0, 0) < 0) return errno;
    if (child->death_signal) {
        if (prctl(PR_SET_PDEATHSIG, child->death_signal, 0, 0, 0) < 0) return errno;
        // The parent may have died before the signal was asked for.
        if (getppid() != parent) _exit(127);
    }
    int wanted[3] = {child->input, child->output, child->errors};
    // First out of the way of 0, 1 and 2, then into their places.
    for (int i = 0; i < 3; i++) {
        if (wanted[i] < 0) continue;
        wanted[i] = fcntl(wanted[i], F_DUPFD_CLOEXEC, 3);
        if (wanted[i] < 0) return errno;
    }
    for (int i = 0; i < 3; i++) {
        if (wanted[i] >= 0 && dup2(wanted[i], i) < 0) return errno;
    }
    if (child->directory && chdir(child->directory) < 0) return errno;
#ifdef SYS_close_range
    // Whatever else is open here stays here: 4 is CLOSE_RANGE_CLOEXEC. Descriptors of ours are all close-on-exec anyway.
    syscall(SYS_close_range, 3, ~0U, 4);
#endif
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(child->path, child->arguments, child->environment);
    return errno;
}

// Forks and executes. Returns the child's pid, or -errno of what failed here or there.
static inline pid_t loop_child_start(const struct loop_child *child) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) < 0) return -errno;
    // No handler of this process may run in the child before it has the standard ones.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t parent = getpid();
    pid_t pid = fork();
    if (pid == 0) {
        int code = loop_child_become(child, parent);
        ssize_t ignored = write(report[1], &code, sizeof code);
        (void)ignored;
        _exit(127);
    }
    int failure = pid < 0 ? errno : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    close(report[1]);
    if (pid > 0) {
        // The pipe closes at a successful exec, or brings the code of the failure.
        ssize_t count;
        do count = read(report[0], &failure, sizeof failure);
        while (count < 0 && errno == EINTR);
        if (count != sizeof failure) failure = 0;
        if (failure) {
            while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
            }
        }
    }
    close(report[0]);
    return failure ? -failure : pid;
}

// Where a fault of this process is written before it ends: the signal in the upper half, the thread in the lower.
static volatile uint64_t *loop_fault_word = NULL;

// What handled a signal before.
static inline struct sigaction *loop_fault_before(int number) {
    static struct sigaction before[NSIG];
    return &before[number];
}

static inline void loop_fault_arrived(int number, siginfo_t *info, void *context) {
    (void)context;
    // A signal that a process sent says nothing about the code that runs. abort sends to its own thread.
    int sent = info->si_code == SI_USER || info->si_code == SI_QUEUE;
    volatile uint64_t *word = loop_fault_word;
    if (!sent && word) *word = (uint64_t)(uint32_t)number << 32 | (uint32_t)syscall(SYS_gettid);
    // Then the earlier handler, or the system, gets the signal: a fault happens again on return, a sent signal is raised again.
    sigaction(number, loop_fault_before(number), NULL);
    if (info->si_code <= 0) raise(number);
}

// Faults are written to a word from here on; NULL ends it, if it is still this word. Handlers that were there come after.
static inline void loop_watch_faults(volatile uint64_t *word) {
    static const int numbers[] = {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV};
    struct sigaction action = {.sa_sigaction = loop_fault_arrived, .sa_flags = SA_SIGINFO | SA_ONSTACK}, before;
    sigemptyset(&action.sa_mask);
    loop_fault_word = word;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (sigaction(numbers[i], NULL, &before) < 0 || before.sa_sigaction == loop_fault_arrived) continue;
        *loop_fault_before(numbers[i]) = before;
        sigaction(numbers[i], &action, NULL);
    }
}

static inline void loop_unwatch_faults(volatile uint64_t *word) {
    if (loop_fault_word == word) loop_fault_word = NULL;
}

// Where the signal handlers of this thread run, so that they can when its own stack is used up. 0 or -errno.
static inline int loop_signal_stack(void *memory, size_t count) {
    stack_t stack = {.ss_sp = memory, .ss_size = count, .ss_flags = memory ? 0 : SS_DISABLE};
    return sigaltstack(&stack, NULL) < 0 ? -errno : 0;
}

// Moves the calling thread into a network namespace (CLONE_NEWNET). 0, or -1 and errno.
static inline int loop_enter_network(int descriptor) { return (int)syscall(SYS_setns, descriptor, 0x40000000); }

static inline uint32_t loop_thread_id(void) { return (uint32_t)syscall(SYS_gettid); }

#endif
