#include "commands.h"
#include "store.h"
#include <stdio.h>
#include <string.h>

static const struct command {
    const char *name;
    int args;
    int (*run)(struct larder *l, const char *const *args);
} commands[] = {
    { "stock", 0, cmd_stock },
    { "usage", 3, cmd_usage },
    { "top", 0, cmd_top },
    { "urgent", 0, cmd_urgent },
    { "kit", 1, cmd_kit },
    { "browse", 0, cmd_browse },
};

int main(int argc, char **argv)
{
    int packed = argc > 1 && strcmp(argv[1], "-p") == 0;
    const struct store_ops *ops = packed ? &store_packed : &store_list;
    const char *const *args = (const char *const *)argv + 1 + packed;
    int count = argc - 1 - packed;
    const struct command *command = NULL;
    struct store *notes;
    struct larder *l;

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (count - 2 == commands[i].args &&
            strcmp(args[1], commands[i].name) == 0)
            command = &commands[i];
    }
    if (command == NULL) {
        fprintf(stderr, "usage: larder [-p] LEDGER COMMAND [ARGUMENT...]\n");
        return 2;
    }
    if (ops->open(&notes) < 0 || larder_new(&l, notes) < 0)
        return 1;
    int status = larder_load_file(l, args[0]);
    if (status >= 0)
        status = command->run(l, args + 2);
    if (status < 0)
        fprintf(stderr, "larder: %s (%d)\n", larder_error(l), status);
    larder_free(l);
    ops->close(notes);
    return status < 0;
}
