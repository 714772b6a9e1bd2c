/*
 * name:   words that depend on who is looking are no strong evidence; those of a range are
 * run:    sundew arguments $file
 * expect: $file:25:5: arguments: pass: arguments 1 and 2 may be swapped
 * expect: $file:26:5: arguments: give_name: arguments 1 and 2 may be swapped
 * expect: $file:31:5: arguments: cut: arguments 1 and 2 look swapped
 * absent: $file:18:5: arguments
 * status: 1
 */
struct channel;
void pass(struct channel *input, struct channel *output);
void give_name(const char *old_name, const char *new_name);
void cut(int start, int length);

void client(struct channel *input, struct channel *output, int start, int length)
{
    pass(input, output);
    cut(start, length);
    give_name("a", "b");
}

void server(struct channel *input, struct channel *output, const char *old_name,
            const char *new_name)
{
    pass(output, input);
    give_name(new_name, old_name);
}

void wrong(int start, int length)
{
    cut(length, start);
}
