# ImageMagick: a picture of 12 megapixels made, and cropped as often as the count says.
set -e
operations=$(yes '( +clone -crop 3000x2000+500+500 +repage ) -delete 1' | head -n "$1" | tr '\n' ' ')
sum=$(convert-im6.q16 -size 4000x3000 gradient:red-blue $operations -crop 64x64+7+9 rgb:- | cksum)
echo "result ${sum% *} $((3000 * 2000 * 8))"
