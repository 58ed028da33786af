# The input schema lets through digits, units and spaces only, so that this reads the text out of the JSON safely.
text=$(sed -n 's/.*"args":{"text":"\([0-9dhms ]*\)"}.*/\1/p')

for unit in d h m s; do
  case $text in
    *$unit*$unit*)
      echo "the unit \`$unit\` is given twice in \`$text\`" >&2
      exit 2
      ;;
  esac
done

# The number before a unit, without the zeros that would make it octal; nothing where the unit is not there.
number() {
  printf '%s\n' "$text" | sed -n "s/.*[^0-9]0*\([0-9][0-9]*\)$1.*/\1/p; s/^0*\([0-9][0-9]*\)$1.*/\1/p" | head -n 1
}

total=0
parts=
for unit in d h m s; do
  count=$(number "$unit")
  [ -n "$count" ] || continue
  case $unit in
    d) each=86400 ;;
    h) each=3600 ;;
    m) each=60 ;;
    s) each=1 ;;
  esac
  total=$((total + count * each))
  parts="$parts${parts:+,}\"$count$unit\""
done

printf '{"seconds":%s,"parts":[%s]}\n' "$total" "$parts"
