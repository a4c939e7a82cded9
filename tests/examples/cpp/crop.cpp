// Cuts a rectangle out of a binary PPM image, row by row, with the tuned copy.
#include "tuned_copy.hpp"

#include <cctype>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct BadInput : std::runtime_error { // exit code 2; any other exception means 1
    using std::runtime_error::runtime_error;
};

struct Rectangle {
    std::size_t width, height, x, y;
};

struct Image {
    std::size_t width, height;
    unsigned brightest;
    std::vector<char> pixels; // row after row, without gaps

    std::size_t pixel_bytes() const { return brightest < 256 ? 3 : 6; }
    std::size_t row_bytes() const { return width * pixel_bytes(); }
};

std::string text_of(const Rectangle& part) {
    return std::to_string(part.width) + 'x' + std::to_string(part.height) + '+' +
           std::to_string(part.x) + '+' + std::to_string(part.y);
}

Rectangle parsed_rectangle(const std::string& text) {
    Rectangle part{};
    // Nine digits at most: no product below overflows. Signs and spaces do not survive the way
    // back.
    std::sscanf(text.c_str(), "%9zux%9zu+%9zu+%9zu", &part.width, &part.height, &part.x, &part.y);
    if (text_of(part) != text)
        throw BadInput(text + ": not WIDTHxHEIGHT+X+Y, as in 640x480+100+50");
    return part;
}

// The next number of a PPM header, where comments run from # to the end of the line.
unsigned header_number(std::istream& file) {
    while ((file >> std::ws).peek() == '#')
        file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    unsigned number = 0;
    if (file.peek() < '0' || file.peek() > '9' || !(file >> number) || number > 999999999)
        file.setstate(std::ios::failbit);
    return number;
}

Image read_image(const std::string& path) {
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file || file.peek() == std::ifstream::traits_type::eof())
        throw BadInput(path + ": cannot read: " + (errno ? std::strerror(errno) : "empty"));
    const bool known =
        file.get() == 'P' && file.get() == '6' && (std::isspace(file.peek()) || file.peek() == '#');
    const unsigned width = header_number(file), height = header_number(file),
                   brightest = header_number(file);
    if (!known || !std::isspace(file.get()) || !width || !height || !brightest || brightest > 65535)
        throw BadInput(path + ": no binary PPM image (P6)");
    Image image{width, height, brightest, {std::istreambuf_iterator<char>(file), {}}};
    if (image.pixels.size() < image.row_bytes() * height)
        throw BadInput(path + ": cut short: " + std::to_string(image.pixels.size()) + " of " +
                       std::to_string(image.row_bytes() * height) + " bytes of pixels");
    return image;
}

Image cropped(const Image& image, const Rectangle& part) {
    Image result{part.width, part.height, image.brightest, {}};
    result.pixels.resize(result.row_bytes() * part.height);
    const std::span<const char> from(image.pixels);
    const std::span<char> to(result.pixels);
    const std::size_t left = part.x * image.pixel_bytes(), bytes = result.row_bytes();
    for (std::size_t y = 0; y < part.height; ++y)
        tuned::copy(from.subspan((part.y + y) * image.row_bytes() + left, bytes),
                    to.subspan(y * bytes, bytes));
    return result;
}

void write_image(const std::string& path, const Image& image) {
    std::ofstream file(path, std::ios::binary);
    file << "P6\n" << image.width << ' ' << image.height << '\n' << image.brightest << '\n';
    file.write(image.pixels.data(), static_cast<std::streamsize>(image.pixels.size()));
    if (!file.flush()) throw std::runtime_error(path + ": cannot write: " + std::strerror(errno));
}

void crop(const std::string& input, const std::string& rectangle, const std::string& output) {
    const Rectangle part = parsed_rectangle(rectangle);
    const Image image = read_image(input);
    if (!part.width || !part.height || part.x + part.width > image.width ||
        part.y + part.height > image.height)
        throw BadInput(input + ": no " + rectangle + " inside its " + std::to_string(image.width) +
                       'x' + std::to_string(image.height));
    write_image(output, cropped(image, part));
}

} // namespace

int main(int argc, char** argv) {
    try {
        if (argc != 4) throw BadInput("needs three arguments: IN.ppm WIDTHxHEIGHT+X+Y OUT.ppm");
        crop(argv[1], argv[2], argv[3]);
        return 0;
    } catch (const BadInput& error) {
        std::cerr << "crop: " << error.what() << '\n';
        return 2;
    } catch (const std::exception& error) {
        std::cerr << "crop: " << error.what() << '\n';
        return 1;
    }
}
