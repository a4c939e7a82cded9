// Package tuned copies slices with the tuned routine, which asterope-generate puts into this
// folder: cgo compiles every C file beside a package's Go files.
package tuned

// The header is in <>, as gcc takes one in "" from the temporary folder first: cgo puts the lines
// below into a file there.

// #cgo CFLAGS: -O2 -I${SRCDIR}
// #include <asterope_memcpy.h>
import "C"

import (
	"fmt"
	"unsafe"
)

// Element is a type without pointers: the garbage collector need not see its copies.
type Element interface {
	~bool | ~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
		~float32 | ~float64 | ~complex64 | ~complex128
}

// Copy copies all of from over all of to. It panics where they differ in length or overlap, and
// writes nothing then.
func Copy[T Element](to, from []T) {
	bytes := commonBytes(to, from)
	if bytes == 0 {
		return
	}
	destination, source := unsafe.Pointer(&to[0]), unsafe.Pointer(&from[0])
	if uintptr(source) < uintptr(destination)+bytes && uintptr(destination) < uintptr(source)+bytes {
		panic("tuned: source and destination overlap: use Move")
	}
	C.asterope_memcpy(destination, source, C.size_t(bytes))
}

// Move is as Copy, where the two may overlap.
func Move[T Element](to, from []T) {
	if bytes := commonBytes(to, from); bytes > 0 {
		C.asterope_memmove(unsafe.Pointer(&to[0]), unsafe.Pointer(&from[0]), C.size_t(bytes))
	}
}

func commonBytes[T Element](to, from []T) uintptr {
	if len(to) != len(from) {
		panic(fmt.Sprintf("tuned: %d elements do not fill %d", len(from), len(to)))
	}
	var element T
	return uintptr(len(from)) * unsafe.Sizeof(element)
}
