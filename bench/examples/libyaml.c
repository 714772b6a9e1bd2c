/* Counts the events of a stream, loads a document, writes one. */
#include <stdio.h>
#include <string.h>
#include <yaml.h>

static const char text[] = "name: shop\nitems:\n- {id: 1, price: 20}\n- &x [a, 'b', \"c\"]\n- *x\n...\n";

static void events(const char *input)
{
    yaml_parser_t parser;
    yaml_event_t event;
    int done = 0, n = 0;

    yaml_parser_initialize(&parser);
    yaml_parser_set_input_string(&parser, (const unsigned char *)input, strlen(input));
    while (!done && yaml_parser_parse(&parser, &event)) {
        done = event.type == YAML_STREAM_END_EVENT;
        n++;
        yaml_event_delete(&event);
    }
    printf("%d events, error %d\n", n, parser.error);
    yaml_parser_delete(&parser);
}

static void document(void)
{
    yaml_parser_t parser;
    yaml_document_t d;

    yaml_parser_initialize(&parser);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    yaml_parser_load(&parser, &d);
    yaml_node_t *root = yaml_document_get_root_node(&d);
    printf("root %d, second %d\n", root->type, yaml_document_get_node(&d, 2)->type);
    yaml_document_delete(&d);
    yaml_parser_delete(&parser);
}

static void write(void)
{
    yaml_emitter_t emitter;
    yaml_event_t event;
    unsigned char out[200];
    size_t n = 0;

    yaml_emitter_initialize(&emitter);
    yaml_emitter_set_output_string(&emitter, out, sizeof out, &n);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
    yaml_emitter_emit(&emitter, &event);
    yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 0);
    yaml_emitter_emit(&emitter, &event);
    yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_BLOCK_SEQUENCE_STYLE);
    yaml_emitter_emit(&emitter, &event);
    yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)"hello", 5, 1, 1,
                                 YAML_PLAIN_SCALAR_STYLE);
    yaml_emitter_emit(&emitter, &event);
    yaml_sequence_end_event_initialize(&event);
    yaml_emitter_emit(&emitter, &event);
    yaml_document_end_event_initialize(&event, 0);
    yaml_emitter_emit(&emitter, &event);
    yaml_stream_end_event_initialize(&event);
    yaml_emitter_emit(&emitter, &event);
    yaml_emitter_delete(&emitter);
    printf("%.*s", (int)n, (char *)out);
}

int main(void)
{
    events(text);
    events("a: [b");
    document();
    write();
    puts(yaml_get_version_string());
    return 0;
}
