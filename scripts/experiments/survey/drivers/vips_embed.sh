# vips: a picture of 12 megapixels with a border, as often as the count says.
set -e
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
vips black "$folder/0.v" 4000 3000 --bands 3
for turn in $(seq "$1"); do
    vips embed "$folder/0.v" "$folder/1.v" 8 8 4016 3016 --extend copy
done
sum=$(tail -c +65 "$folder/1.v" | head -c 36000000 | cksum)
echo "result ${sum% *} $((4000 * 3000 * 3))"
