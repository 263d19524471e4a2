#!/bin/sh
# An agent for tests of the bridge. What its prompt says it does: `stream N SIZE`, `slow N`, `ask N`, `suggest N`, `choose N`,
# `mode M`, `hang`. It is not up before the file `hold` is gone. It writes down its number, its arguments, the answers it gets
# and the modes it is told to be in (`agent.modes`), so that a test can kill it and see how it was started.
echo $$ > agent.pid
echo "$@" >> agent.args
session='"session_id":"00000000-0000-4000-8000-000000000001"'
said='"parent_tool_use_id":null,'$session
delta='{"type":"stream_event",'$said',"uuid":"u","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"'
done_line() {
  printf '{"type":"assistant",%s,"uuid":"u","message":{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"%s"}]}}\n' "$said" "$1"
  printf '{"type":"result","subtype":"success","is_error":false,"result":"%s",%s}\n' "$1" "$session"
}
while read -r line; do
  case $line in
    *'"subtype":"initialize"'*)
      while [ -e hold ]; do sleep 0.02; done
      id=$(printf '%s\n' "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
      printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{"commands":[],"models":[]}}}\n' "$id"
      ;;
    *'"subtype":"set_permission_mode"'*)
      id=$(printf '%s\n' "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
      printf '%s\n' "$line" | sed 's/.*"mode":"\([^"]*\)".*/\1/' >> agent.modes
      printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{}}}\n' "$id"
      ;;
    *'"type":"control_response"'*)
      printf '%s\n' "$line" >> agent.answers
      done_line answered ;;
    *'"type":"user"'*)
      printf '{"type":"system","subtype":"init",%s,"model":"fake","cwd":"/","tools":[]}\n' "$session"
      words=$(printf '%s\n' "$line" | sed 's/.*"content":"\([^"]*\)".*/\1/')
      # shellcheck disable=SC2086
      set -- $words
      case $1 in
        stream)
          awk -v start="$delta" -v count="$2" -v size="$3" 'BEGIN {
            for (i = 0; i < size; i++) pad = pad "x"
            for (i = 0; i < count; i++) print start i ":" pad "\"}}}"
          }'
          done_line streamed ;;
        slow)
          i=0
          while [ $i -lt "$2" ]; do
            printf '%s%s "}}}\n' "$delta" "$i"
            sleep 0.005
            i=$((i + 1))
          done
          done_line slowed ;;
        ask)
          printf '{"type":"control_request","request_id":"r%s","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"rm -r old"},"tool_use_id":"toolu_%s"}}\n' "$2" "$2" ;;
        suggest)
          printf '{"type":"control_request","request_id":"r%s","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"git log"},"permission_suggestions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"git:*"}],"behavior":"allow","destination":"localSettings"}],"tool_use_id":"toolu_%s"}}\n' "$2" "$2" ;;
        choose)
          printf '{"type":"control_request","request_id":"r%s","request":{"subtype":"can_use_tool","tool_name":"AskUserQuestion","input":{"questions":[{"question":"Which?","header":"Colour","options":[{"label":"red","description":""},{"label":"green","description":""}],"multiSelect":false}]},"tool_use_id":"toolu_%s"}}\n' "$2" "$2" ;;
        mode)
          printf '{"type":"system","subtype":"status","status":null,"permissionMode":"%s",%s,"uuid":"u"}\n' "$2" "$session"
          done_line "$words" ;;
        hang) printf '%shalf a thought"}}}\n' "$delta" ;;
        *) done_line "$words" ;;
      esac
      ;;
  esac
done
