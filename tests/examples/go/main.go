// Gather holds its standard input in memory, then writes a copy of it that the tuned copy has made.
package main

import (
	"fmt"
	"io"
	"os"

	"example.com/gather/tuned"
)

func main() {
	all, err := io.ReadAll(os.Stdin)
	if err == nil {
		copied := make([]byte, len(all))
		tuned.Copy(copied, all)
		_, err = os.Stdout.Write(copied)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gather:", err)
		os.Exit(1)
	}
}
