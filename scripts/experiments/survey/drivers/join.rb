# Ruby: a string of 16 MiB put together from blocks of 64 KiB.
require "zlib"
block = (1..65_536).map { |i| i * 7 % 256 }.pack("C*")
joined = "".b
Integer(ARGV[0]).times do
  joined = String.new(capacity: 16 << 20, encoding: Encoding::BINARY)
  256.times { joined << block }
end
puts "result #{Zlib.crc32(joined)} #{joined.bytesize}"
