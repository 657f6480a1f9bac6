/** A screenshot in a third of its size: with a palette of the colours that it has most of, the others as the nearest of them. */
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
  const indexes = new Map(palette.map((colour, index) => [colour, index]));
  const { width, height } = pixels;
  const rows = Buffer.alloc((width + 1) * height);
  forEachPixel(pixels, (colour, x, y) => {
    const place = indexes.get(colour) ?? nearest(palette, colour);
    indexes.set(colour, place);
    rows[y * (width + 1) + 1 + x] = place;
  });
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Eight bits a pixel, which are places in the palette.
  head.set([8, 3], 8);
  const paletteBytes = Buffer.from(palette.flatMap(rgbOf));
  const parts = [
    chunk('IHDR', head),
    chunk('PLTE', paletteBytes),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
  ];
  return Buffer.concat([SIGNATURE, ...parts, chunk('IEND', Buffer.alloc(0))]);
}

function countColors(pixels: Pixels): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  forEachPixel(pixels, (colour) => counts.set(colour, (counts.get(colour) ?? 0) + 1));
  return counts;
}

function forEachPixel(
  { width, height, channels, bytes }: Pixels,
  visit: (colour: number, x: number, y: number) => void,
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

function distance(one: number, other: number): number {
  const [a, b] = [rgbOf(one), rgbOf(other)];
  return a.reduce((sum, part, index) => sum + (part - (b[index] ?? 0)) ** 2, 0);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
}
