/*
 * name:    root without capabilities writes to /proc, where Landlock is not there to forbid it
 * command: run
 * without: Landlock
 * apart:   mount
 * expect:  0
 */
#include "attack.h"

int main(void)
{
    static const char *const files[] = {
        "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe",   "/proc/sys/vm/overcommit_memory",
        "/proc/sys/kernel/hostname",     "/proc/sysrq-trigger",         "/proc/1/oom_score_adj",
        "/proc/1/autogroup",             "/proc/1/clear_refs",          "/proc/irq/default_smp_affinity",
        "/sys/kernel/uevent_helper",     "/sys/fs/cgroup/cgroup.procs", "/sys/power/state",
    };
    int failures = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int fd = open(files[i], O_WRONLY);
        if (fd >= 0) {
            printf("reached: %s\n", files[i]);
            failures++;
            close(fd);
        }
    }
    printf("tried all\n");
    return failures ? 3 : 0;
}
