<?php
// PHP: a string of 16 MiB put together from blocks of 64 KiB.
$block = "";
for ($i = 1; $i <= 65536; ++$i) {
    $block .= chr($i * 7 % 256);
}
$blocks = array_fill(0, 256, $block);
for ($turn = 0; $turn < (int)$argv[1]; ++$turn) {
    $joined = implode("", $blocks);
}
printf("result %d %d\n", crc32($joined), strlen($joined));
