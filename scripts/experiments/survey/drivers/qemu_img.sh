# qemu-img: an image of 64 MiB converted from raw to qcow2, as often as the count says.
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
head -c 67108864 /dev/zero | tr '\0' 'a' >"$folder/raw"
for turn in $(seq "$1"); do
    qemu-img convert -q -f raw -O qcow2 "$folder/raw" "$folder/qcow2"
done
sum=$(qemu-img convert -f qcow2 -O raw "$folder/qcow2" "$folder/back" && cksum <"$folder/back")
echo "result ${sum% *} 67108864"
