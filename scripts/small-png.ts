/** A screenshot in a third of its size: with a palette of the colours that it has most of, the others as the nearest of them. */
import { crc32, deflateSync } from 'node:zlib';
import { type Pixels, readPng } from '../test/support/pixels.ts';

const COLOURS_MAX = 256;
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

export function smallPng(png: Buffer): Buffer {
  const pixels = readPng(png);
  const counts = countColours(pixels);
  const palette = [...counts.keys()]
    .sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0))
    .slice(0, COLOURS_MAX);
  const places = new Map(palette.map((colour, place) => [colour, place]));
  const { width, height } = pixels;
  const rows = Buffer.alloc((width + 1) * height);
  eachPixel(pixels, (colour, x, y) => {
    const place = places.get(colour) ?? nearest(palette, colour);
    places.set(colour, place);
    rows[y * (width + 1) + 1 + x] = place;
  });
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Eight bits a pixel, which are places in the palette.
  head.set([8, 3], 8);
  const colours = Buffer.from(palette.flatMap(partsOf));
  const parts = [chunk('IHDR', head), chunk('PLTE', colours), chunk('IDAT', deflateSync(rows, { level: 9 }))];
  return Buffer.concat([SIGNATURE, ...parts, chunk('IEND', Buffer.alloc(0))]);
}

function countColours(pixels: Pixels): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  eachPixel(pixels, (colour) => counts.set(colour, (counts.get(colour) ?? 0) + 1));
  return counts;
}

function eachPixel(
  { width, height, channels, bytes }: Pixels,
  see: (colour: number, x: number, y: number) => void,
): void {
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) see(bytes.readUIntBE((y * width + x) * channels, 3), x, y);
  }
}

function partsOf(colour: number): readonly number[] {
  return [colour >> 16, (colour >> 8) & 0xff, colour & 0xff];
}

function nearest(palette: readonly number[], colour: number): number {
  const distances = palette.map((other) => distance(other, colour));
  return distances.indexOf(Math.min(...distances));
}

function distance(one: number, other: number): number {
  const [a, b] = [partsOf(one), partsOf(other)];
  return a.reduce((sum, part, index) => sum + (part - (b[index] ?? 0)) ** 2, 0);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
}
