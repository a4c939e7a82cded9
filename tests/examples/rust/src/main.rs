//! Cuts a rectangle out of a binary PPM image, row by row, with the tuned copy.

use std::{env, fs, process};

/// What is wrong, and the exit code: 2 for bad input, 1 for a failure.
struct Error(String, i32);

fn bad_input(what: String) -> Error {
    Error(what, 2)
}

struct Rectangle {
    width: usize,
    height: usize,
    x: usize,
    y: usize,
}

struct Image {
    width: usize,
    height: usize,
    brightest: usize,
    pixels: Vec<u8>, // row after row, without gaps
}

impl Image {
    fn pixel_bytes(&self) -> usize {
        if self.brightest < 256 {
            3
        } else {
            6
        }
    }

    fn row_bytes(&self) -> usize {
        self.width * self.pixel_bytes()
    }
}

/// A decimal number of at most nine digits, without a sign.
fn number(text: &str) -> Option<usize> {
    let plain = text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

fn parsed_rectangle(text: &str) -> Option<Rectangle> {
    let (width, rest) = text.split_once('x')?;
    let (height, corner) = rest.split_once('+')?;
    let (x, y) = corner.split_once('+')?;
    Some(Rectangle {
        width: number(width)?,
        height: number(height)?,
        x: number(x)?,
        y: number(y)?,
    })
}

/// The next number of a PPM header, where comments run from # to the end of the line; `rest` then
/// begins with what follows it.
fn header_number(rest: &mut &[u8]) -> Option<usize> {
    loop {
        match rest.first()? {
            b'#' => *rest = &rest[rest.iter().position(|&byte| byte == b'\n')?..],
            byte if byte.is_ascii_whitespace() => *rest = &rest[1..],
            _ => break,
        }
    }
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (text, after) = rest.split_at(digits);
    *rest = after;
    number(std::str::from_utf8(text).ok()?)
}

fn parsed_header(bytes: &[u8]) -> Option<(Image, &[u8])> {
    let mut rest = bytes.strip_prefix(b"P6")?;
    let apart = !rest.first()?.is_ascii_digit();
    let image = Image {
        width: header_number(&mut rest)?,
        height: header_number(&mut rest)?,
        brightest: header_number(&mut rest)?,
        pixels: Vec::new(),
    };
    let (end, pixels) = rest.split_first()?;
    let sound = apart
        && end.is_ascii_whitespace()
        && image.width > 0
        && image.height > 0
        && (1..65536).contains(&image.brightest);
    Some((image, pixels)).filter(|_| sound)
}

fn read_image(path: &str) -> Result<Image, Error> {
    let bytes =
        fs::read(path).map_err(|error| bad_input(format!("{path}: cannot read: {error}")))?;
    let (mut image, pixels) = parsed_header(&bytes)
        .ok_or_else(|| bad_input(format!("{path}: no binary PPM image (P6)")))?;
    let wanted = image.row_bytes() * image.height;
    if pixels.len() < wanted {
        let there = pixels.len();
        return Err(bad_input(format!(
            "{path}: cut short: {there} of {wanted} bytes of pixels"
        )));
    }
    image.pixels = pixels.to_vec();
    Ok(image)
}

fn cropped(image: &Image, part: &Rectangle) -> Image {
    let mut result = Image {
        width: part.width,
        height: part.height,
        brightest: image.brightest,
        pixels: Vec::new(),
    };
    let bytes = result.row_bytes();
    result.pixels = vec![0; bytes * part.height];
    let rows = image.pixels.chunks_exact(image.row_bytes()).skip(part.y);
    let left = part.x * image.pixel_bytes();
    for (to, row) in result.pixels.chunks_exact_mut(bytes).zip(rows) {
        tuned_copy::copy(to, &row[left..left + bytes]);
    }
    result
}

fn write_image(path: &str, image: &Image) -> Result<(), Error> {
    let mut bytes = format!(
        "P6\n{} {}\n{}\n",
        image.width, image.height, image.brightest
    )
    .into_bytes();
    bytes.extend_from_slice(&image.pixels);
    fs::write(path, bytes).map_err(|error| Error(format!("{path}: cannot write: {error}"), 1))
}

fn crop(arguments: &[String]) -> Result<(), Error> {
    let usage = || bad_input("needs three arguments: IN.ppm WIDTHxHEIGHT+X+Y OUT.ppm".into());
    let (input, rectangle, output) = match arguments {
        [input, rectangle, output] => (input, rectangle, output),
        _ => return Err(usage()),
    };
    let part = parsed_rectangle(rectangle).ok_or_else(|| {
        bad_input(format!(
            "{rectangle}: not WIDTHxHEIGHT+X+Y, as in 640x480+100+50"
        ))
    })?;
    let image = read_image(input)?;
    let inside = part.x + part.width <= image.width && part.y + part.height <= image.height;
    if part.width == 0 || part.height == 0 || !inside {
        return Err(bad_input(format!(
            "{input}: no {rectangle} inside its {}x{}",
            image.width, image.height
        )));
    }
    write_image(output, &cropped(&image, &part))
}

fn main() {
    let arguments: Vec<String> = env::args_os()
        .skip(1)
        .map(|argument| argument.to_string_lossy().into_owned())
        .collect();
    if let Err(Error(what, code)) = crop(&arguments) {
        eprintln!("crop: {what}");
        process::exit(code);
    }
}
