// Reads the pictures that Chromium takes: 8-bit RGB or RGBA, not interlaced.
import { inflateSync } from "node:zlib";

const paeth = (a, b, c) => {
  const p = a + b - c,
    pa = Math.abs(p - a),
    pb = Math.abs(p - b),
    pc = Math.abs(p - c);
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
};

export function readPng(file) {
  const width = file.readUInt32BE(16),
    height = file.readUInt32BE(20),
    channels = file[25] === 6 ? 4 : 3,
    parts = [];
  for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at))
    if (file.toString("latin1", at + 4, at + 8) === "IDAT")
      parts.push(file.subarray(at + 8, at + 8 + file.readUInt32BE(at)));
  const raw = inflateSync(Buffer.concat(parts)),
    stride = width * channels,
    pixels = Buffer.alloc(height * stride);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)],
      line = raw.subarray(y * (stride + 1) + 1, (y + 1) * (stride + 1)),
      out = y * stride;
    for (let i = 0; i < stride; i++) {
      const a = i >= channels ? pixels[out + i - channels] : 0,
        b = y ? pixels[out + i - stride] : 0,
        c = i >= channels && y ? pixels[out + i - stride - channels] : 0;
      pixels[out + i] = line[i] + [0, a, b, (a + b) >> 1, paeth(a, b, c)][filter];
    }
  }
  return { width, height, channels, pixels };
}

/** Pixels that clearly have a colour: neither paper, ink nor any grey. */
export function coloured({ pixels, channels }) {
  let count = 0;
  for (let i = 0; i < pixels.length; i += channels)
    if (Math.max(pixels[i], pixels[i + 1], pixels[i + 2]) - Math.min(pixels[i], pixels[i + 1], pixels[i + 2]) > 60)
      count++;
  return count;
}

/** Mean brightness, 0 to 255. */
export function brightness({ pixels, channels }) {
  let sum = 0;
  for (let i = 0; i < pixels.length; i += channels) sum += pixels[i] + pixels[i + 1] + pixels[i + 2];
  return sum / (3 * (pixels.length / channels));
}
