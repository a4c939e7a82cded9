package tuned_test

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"example.com/gather/tuned"
)

func counted(size int) []int32 {
	numbers := make([]int32, size)
	for i := range numbers {
		numbers[i] = int32(i)
	}
	return numbers
}

func expectPanic(t *testing.T, words string, action func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if what := recover(); what != words {
			t.Errorf("%v instead of %q", what, words)
		}
	}()
	action()
}

func TestCopyEqualsItsSource(t *testing.T) {
	for _, size := range []int{0, 1, 100, 5000, 3000000} {
		from, to := counted(size), make([]int32, size)
		tuned.Copy(to, from)
		if !reflect.DeepEqual(from, to) {
			t.Errorf("%d elements differ", size)
		}
	}
}

func TestNamedTypesAreCopied(t *testing.T) {
	type brightness float64
	to := make([]brightness, 2)
	tuned.Copy(to, []brightness{1.5, 2.5})
	if to[0] != 1.5 || to[1] != 2.5 {
		t.Error(to)
	}
}

func TestLengthsAndOverlapsAreMinded(t *testing.T) {
	short, long, numbers := make([]byte, 3), make([]byte, 4), counted(10)
	words := "tuned: 4 elements do not fill 3"
	expectPanic(t, words, func() { tuned.Copy(short, long) })
	expectPanic(t, words, func() { tuned.Move(short, long) })
	words = "tuned: source and destination overlap: use Move"
	expectPanic(t, words, func() { tuned.Copy(numbers[4:], numbers[:6]) })
	expectPanic(t, words, func() { tuned.Copy(numbers[:6], numbers[4:]) })
	if !reflect.DeepEqual(numbers, counted(10)) {
		t.Error("a refused copy has written", numbers)
	}
	tuned.Copy(numbers[5:], numbers[:5]) // neighbours
	tuned.Move(numbers[2:], numbers[:8])
	if !reflect.DeepEqual(numbers, []int32{0, 1, 0, 1, 2, 3, 4, 0, 1, 2}) {
		t.Error(numbers)
	}
}

// What a call into C costs beside Go's own copy: go test -bench . ./tuned
func BenchmarkCopy(b *testing.B) {
	ways := map[string]func(to, from []byte){
		"tuned":   tuned.Copy[byte],
		"builtin": func(to, from []byte) { copy(to, from) },
	}
	for _, size := range []int{64, 4 << 10, 64 << 10, 1 << 20, 32 << 20} {
		to, from := make([]byte, size), bytes.Repeat([]byte{1}, size) // not all on the zero page
		for _, name := range []string{"builtin", "tuned"} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				b.SetBytes(int64(size))
				for i := 0; i < b.N; i++ {
					ways[name](to, from)
				}
			})
		}
	}
}
