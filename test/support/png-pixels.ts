/** Decodes the kind of PNG that our tests render: 8 bits per channel, not interlaced. */
import { inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 4: 2, 6: 4 };

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Values per pixel. `bytes` holds the values of all pixels, row by row. */
  readonly channels: number;
  readonly bytes: Buffer;
  /** Red, green, blue, and opacity if present; grayscale images have one or two values. */
  at(x: number, y: number): readonly number[];
}

export function readPng(png: Buffer): Pixels {
  if (!png.subarray(0, 8).equals(SIGNATURE)) throw new Error('not a PNG');
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  const channels = CHANNELS[png.readUInt8(25)];
  if (png.readUInt8(24) !== 8 || png.readUInt8(28) !== 0 || channels === undefined) {
    throw new Error('unsupported kind of PNG');
  }
  const rows = unfilter(inflateSync(Buffer.concat(readDataChunks(png))), width * channels, height, channels);
  const at = (x: number, y: number) => [
    ...rows.subarray((y * width + x) * channels, (y * width + x + 1) * channels),
  ];
  return { width, height, channels, bytes: rows, at };
}

function readDataChunks(png: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let offset = 8; offset < png.length; ) {
    const length = png.readUInt32BE(offset);
    if (png.toString('latin1', offset + 4, offset + 8) === 'IDAT') {
      parts.push(png.subarray(offset + 8, offset + 8 + length));
    }
    offset += length + 12;
  }
  return parts;
}

/** Reverses the per-row prediction filters (PNG specification, section 9.2). */
function unfilter(raw: Buffer, rowBytes: number, height: number, channels: number): Buffer {
  const out = Buffer.alloc(rowBytes * height);
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (rowBytes + 1)] ?? 0;
    for (let x = 0; x < rowBytes; x++) {
      const left = x < channels ? 0 : (out[y * rowBytes + x - channels] ?? 0);
      const above = y === 0 ? 0 : (out[(y - 1) * rowBytes + x] ?? 0);
      const corner = x < channels || y === 0 ? 0 : (out[(y - 1) * rowBytes + x - channels] ?? 0);
      const predicted = predict(filter, left, above, corner);
      out[y * rowBytes + x] = (raw[y * (rowBytes + 1) + 1 + x] ?? 0) + predicted;
    }
  }
  return out;
}

/** Runs for each byte of an image, so it creates no array. */
function predict(filter: number, left: number, above: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return above;
  if (filter === 3) return (left + above) >> 1;
  return filter === 4 ? paeth(left, above, corner) : 0;
}

function paeth(left: number, above: number, corner: number): number {
  const guess = left + above - corner;
  const byLeft = Math.abs(guess - left);
  const byAbove = Math.abs(guess - above);
  const byCorner = Math.abs(guess - corner);
  if (byLeft <= byAbove && byLeft <= byCorner) return left;
  return byAbove <= byCorner ? above : corner;
}
