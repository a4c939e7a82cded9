// Go: blocks of 1 MiB into a slice of 64 MiB.
package main

import (
	"fmt"
	"hash/crc32"
	"os"
	"strconv"
)

func main() {
	const mib = 1 << 20
	source, target := make([]byte, 16*mib), make([]byte, 64*mib)
	for i := range source {
		source[i] = byte(i * 7 >> 3)
	}
	turns, _ := strconv.Atoi(os.Args[1])
	start := 0
	for turn := 0; turn < turns; turn++ {
		start = turn % 4 * 16 * mib
		for i := 0; i < 16*mib; i += mib {
			copy(target[start+i:start+i+mib], source[i:])
		}
	}
	fmt.Println("result", crc32.ChecksumIEEE(target[start:start+16*mib]), 16*mib)
}
