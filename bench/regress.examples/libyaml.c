/* A modest use of libyaml: read events of a text, and write some. */
#include <stdio.h>
#include <string.h>
#include <yaml.h>

int main(void)
{
    static const char text[] = "a: 1\nb: [x, y]\nc:\n  - &k {p: q}\n  - *k\n";
    yaml_parser_t parser;
    yaml_event_t event;
    int done = 0, count = 0;
    yaml_parser_initialize(&parser);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    while (!done) {
        if (!yaml_parser_parse(&parser, &event))
            return 1;
        done = event.type == YAML_STREAM_END_EVENT;
        count++;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);

    yaml_emitter_t emitter;
    unsigned char out[500];
    size_t written = 0;
    yaml_emitter_initialize(&emitter);
    yaml_emitter_set_output_string(&emitter, out, sizeof out, &written);
    yaml_emitter_set_canonical(&emitter, 0);
    yaml_emitter_set_indent(&emitter, 4);
    yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING);
    yaml_emitter_emit(&emitter, &event);
    yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 0);
    yaml_emitter_emit(&emitter, &event);
    yaml_scalar_event_initialize(&event, NULL, NULL, (unsigned char *)"value", 5, 1, 1,
                                 YAML_PLAIN_SCALAR_STYLE);
    yaml_emitter_emit(&emitter, &event);
    yaml_document_end_event_initialize(&event, 1);
    yaml_emitter_emit(&emitter, &event);
    yaml_stream_end_event_initialize(&event);
    yaml_emitter_emit(&emitter, &event);
    yaml_emitter_delete(&emitter);
    printf("%d events, %zu bytes\n", count, written);

    yaml_document_t document;
    yaml_parser_initialize(&parser);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    if (yaml_parser_load(&parser, &document)) {
        printf("%d\n", yaml_document_get_root_node(&document)->type);
        yaml_document_delete(&document);
    }
    yaml_parser_delete(&parser);
    return 0;
}
