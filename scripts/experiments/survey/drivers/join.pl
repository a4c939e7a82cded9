# Perl: a string of 16 MiB put together from blocks of 64 KiB.
use strict;
use warnings;
my $block = pack("C*", map { $_ * 7 % 256 } 1 .. 65536);
my @blocks = ($block) x 256;
my $joined;
for (1 .. $ARGV[0]) {
    $joined = "";
    $joined .= $_ for @blocks;
}
printf "result %d %d\n", unpack("%32C*", $joined), length $joined;
