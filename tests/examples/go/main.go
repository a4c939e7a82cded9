// Crop cuts a rectangle out of a binary PPM image, row by row, with the tuned copy.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"

	"example.com/crop/tuned"
)

// badInput is an error whose exit code is 2; that of any other is 1.
type badInput struct{ error }

type rectangle struct{ width, height, x, y int }

type image struct {
	width, height, brightest int
	pixels                   []byte // row after row, without gaps
}

var (
	// Nine digits at most: no product below overflows.
	rectanglePattern = regexp.MustCompile(`^(\d{1,9})x(\d{1,9})\+(\d{1,9})\+(\d{1,9})$`)
	// Comments run from # to the end of the line.
	headerPattern = regexp.MustCompile(`^P6` + gap + `(\d{1,9})` + gap + `(\d{1,9})` + gap + `(\d{1,9})\s`)
)

const gap = `(?:\s|#[^\n]*\n)+`

// numbers turns a pattern's groups, all digits, into numbers.
func numbers(groups []string) []int {
	found := make([]int, len(groups))
	for i, digits := range groups {
		found[i], _ = strconv.Atoi(digits)
	}
	return found
}

func parsedRectangle(text string) (rectangle, error) {
	found := rectanglePattern.FindStringSubmatch(text)
	if found == nil {
		return rectangle{}, badInput{fmt.Errorf("%s: not WIDTHxHEIGHT+X+Y, as in 640x480+100+50", text)}
	}
	n := numbers(found[1:])
	return rectangle{n[0], n[1], n[2], n[3]}, nil
}

func (i image) rowBytes() int {
	if i.brightest < 256 {
		return i.width * 3
	}
	return i.width * 6
}

// reason is what went wrong, without the path that Go's errors repeat.
func reason(err error) error {
	var inside *os.PathError
	if errors.As(err, &inside) {
		return inside.Err
	}
	return err
}

func readImage(path string) (image, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return image{}, badInput{fmt.Errorf("%s: cannot read: %w", path, reason(err))}
	}
	header := headerPattern.FindSubmatch(file)
	if header == nil {
		return image{}, badInput{fmt.Errorf("%s: no binary PPM image (P6)", path)}
	}
	var groups []string
	for _, digits := range header[1:] {
		groups = append(groups, string(digits))
	}
	n := numbers(groups)
	found := image{n[0], n[1], n[2], file[len(header[0]):]}
	if found.width == 0 || found.height == 0 || found.brightest < 1 || found.brightest > 65535 {
		return image{}, badInput{fmt.Errorf("%s: no binary PPM image (P6)", path)}
	}
	if wanted := found.rowBytes() * found.height; len(found.pixels) < wanted {
		return image{}, badInput{fmt.Errorf("%s: cut short: %d of %d bytes of pixels",
			path, len(found.pixels), wanted)}
	}
	return found, nil
}

func cropped(whole image, part rectangle) image {
	result := image{width: part.width, height: part.height, brightest: whole.brightest}
	row := result.rowBytes()
	result.pixels = make([]byte, row*part.height)
	left := part.x * (row / part.width)
	for y := 0; y < part.height; y++ {
		start := (part.y+y)*whole.rowBytes() + left
		tuned.Copy(result.pixels[y*row:][:row], whole.pixels[start:][:row])
	}
	return result
}

func writeImage(path string, written image) error {
	var file bytes.Buffer
	fmt.Fprintf(&file, "P6\n%d %d\n%d\n", written.width, written.height, written.brightest)
	file.Write(written.pixels)
	if err := os.WriteFile(path, file.Bytes(), 0o666); err != nil {
		return fmt.Errorf("%s: cannot write: %w", path, reason(err))
	}
	return nil
}

func crop(arguments []string) error {
	if len(arguments) != 3 {
		return badInput{errors.New("needs three arguments: IN.ppm WIDTHxHEIGHT+X+Y OUT.ppm")}
	}
	part, err := parsedRectangle(arguments[1])
	if err != nil {
		return err
	}
	whole, err := readImage(arguments[0])
	if err != nil {
		return err
	}
	if part.width == 0 || part.height == 0 ||
		part.x+part.width > whole.width || part.y+part.height > whole.height {
		return badInput{fmt.Errorf("%s: no %s inside its %dx%d",
			arguments[0], arguments[1], whole.width, whole.height)}
	}
	return writeImage(arguments[2], cropped(whole, part))
}

func main() {
	err := crop(os.Args[1:])
	if err == nil {
		return
	}
	fmt.Fprintln(os.Stderr, "crop:", err)
	if errors.As(err, &badInput{}) {
		os.Exit(2)
	}
	os.Exit(1)
}
