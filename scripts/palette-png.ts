/** Shrinks a screenshot to a third: maps each pixel to the nearest of the 256 most frequent colors. */
import { crc32, deflateSync } from 'node:zlib';
import { type Pixels, readPng } from '../test/support/png-pixels.ts';

const MAX_COLORS = 256;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

export function encodePalettePng(png: Buffer): Buffer {
  const pixels = readPng(png);
  const counts = countColors(pixels);
  const palette = [...counts.keys()]
    .sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0))
    .slice(0, MAX_COLORS);
  const indexes = new Map(palette.map((color, index) => [color, index]));
  const { width, height } = pixels;
  const rows = Buffer.alloc((width + 1) * height);
  forEachPixel(pixels, (color, x, y) => {
    const index = indexes.get(color) ?? nearest(palette, color);
    indexes.set(color, index);
    rows[y * (width + 1) + 1 + x] = index;
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits per pixel, each an index into the palette.
  header.set([8, 3], 8);
  const paletteBytes = Buffer.from(palette.flatMap(rgbOf));
  const parts = [
    chunk('IHDR', header),
    chunk('PLTE', paletteBytes),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
  ];
  return Buffer.concat([SIGNATURE, ...parts, chunk('IEND', Buffer.alloc(0))]);
}

function countColors(pixels: Pixels): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  forEachPixel(pixels, (color) => counts.set(color, (counts.get(color) ?? 0) + 1));
  return counts;
}

function forEachPixel(
  { width, height, channels, bytes }: Pixels,
  visit: (color: number, x: number, y: number) => void,
): void {
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) visit(bytes.readUIntBE((y * width + x) * channels, 3), x, y);
  }
}

function rgbOf(color: number): readonly number[] {
  return [color >> 16, (color >> 8) & 0xff, color & 0xff];
}

function nearest(palette: readonly number[], color: number): number {
  const distances = palette.map((other) => distance(other, color));
  return distances.indexOf(Math.min(...distances));
}

function distance(left: number, right: number): number {
  const [a, b] = [rgbOf(left), rgbOf(right)];
  return a.reduce((sum, part, index) => sum + (part - (b[index] ?? 0)) ** 2, 0);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}
