#include <stdio.h>
#include <yaml.h>
int main(void){ yaml_parser_t p; yaml_event_t e; int done=0; if(!yaml_parser_initialize(&p)) return 1; yaml_parser_set_input_file(&p,stdin);
 while(!done){ if(!yaml_parser_parse(&p,&e)) break; done=e.type==YAML_STREAM_END_EVENT; yaml_event_delete(&e);} yaml_parser_delete(&p); return 0;}
