# What a shell does: functions, expansions, pipes, subshells, redirections, traps, jobs, arithmetic.
count() { [ "$1" -le 0 ] && return; echo "$1"; count $(($1 - 1)); }
count 20 | sort -n | while read -r n; do printf '%s ' $((n * n % 7)); done; echo
text=one:two:three; IFS=:; set -- $text; unset IFS; echo "$# $1 ${3%ee} ${text#*:} ${text##*:} ${#text} ${none-default} ${text:+set}"
for word in a b c; do case $word in a) echo first ;; [bc]) echo "other $word" ;; esac; done
total=0; for i in 1 2 3 4 5; do total=$((total + i << 1)); done; echo $total $((0x1f & 7 ? 1 : 0))
cat <<EOF
here $total $(echo nested $(echo twice)) `echo old`
EOF
(exit 3); echo $?; ! true; echo $?; false || echo or; true && echo and
trap 'echo trapped' USR1; kill -USR1 $$; trap 'echo leaving' EXIT
{ echo out; echo err >&2; } 2>&1 | cat
f=$(mktemp); echo line >"$f"; echo more >>"$f"; while read -r line; do echo "[$line]"; done <"$f"; exec 5<"$f"; read -r x <&5; echo "$x"; exec 5<&-; rm "$f"
sleep 0.01 & wait $!; echo $?; sh -c 'kill -TERM $$'; echo $?
(echo sub; exit 4) | (cat; exit 5); echo $?
nosuchcommand 2>/dev/null; echo $?; eval 'a=5; echo $a'; set -- "$@" x; shift; echo "$*"
i=0; until [ $i -ge 300 ]; do i=$((i + 1)); v=$(echo $i); done; echo $v
umask; cd /; pwd; command -v cd; type count | head -1; read -r z </dev/null || echo eof
exit 7
