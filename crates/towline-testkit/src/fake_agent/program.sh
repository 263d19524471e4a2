#!/bin/sh
# The fake agent as a program, for examples that start one: answers every request as if it were `initialize`, and says
# back what it is told.
if [ "$1" = --version ]; then
  echo '2.1.325 (fake)'
  exit
fi
while read -r line; do
  case $line in
    *'"type":"control_request"'*)
      id=$(printf '%s\n' "$line" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
      printf '{"type":"control_response","response":{"subtype":"success","request_id":"%s","response":{"claude_code_version":"2.1.325","commands":[{"name":"compact","description":"Shortens the conversation","argumentHint":""}]}}}\n' "$id"
      ;;
    *'"type":"user"'*)
      printf '{"type":"system","subtype":"init","session_id":"fake-session","model":"fake","slash_commands":["compact"]}\n'
      words=$(printf '%s\n' "$line" | sed 's/.*"content":\("\([^"\\]\|\\.\)*"\).*/\1/')
      printf '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":%s}]},"session_id":"fake-session"}\n' "$words"
      printf '{"type":"result","subtype":"success","is_error":false,"result":%s,"total_cost_usd":0.01,"session_id":"fake-session"}\n' "$words"
      ;;
  esac
done
