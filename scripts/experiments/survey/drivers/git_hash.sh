# git: the name of a file of 16 MiB found, as often as the count says.
set -e
file=$(mktemp)
trap 'rm -f "$file"' EXIT
head -c 16777216 /dev/zero | tr '\0' 'a' >"$file"
for turn in $(seq "$1"); do
    sum=$(git hash-object --no-filters "$file")
done
echo "result $sum 16777216"
