/** A viewer of RFB as noVNC is one: it shakes hands, asks for pictures, and reads the text off the pixels. */
import assert from 'node:assert/strict';
import { CELL_HEIGHT, CELL_WIDTH, glyph } from '../../src/drivers/compute/simulator/screen-font.ts';
import { COLUMNS, ROWS } from '../../src/drivers/compute/simulator/screen-text.ts';

const WAIT_MAX_MS = 10_000;
const WIDTH = 640;
const HEIGHT = ROWS * CELL_HEIGHT;
const LETTERS = new Map(
  Array.from({ length: 96 }, (_, index) => String.fromCharCode(32 + index)).map((letter) => [
    glyph(letter).join(),
    letter,
  ]),
);

export interface Format {
  readonly bits: 8 | 16 | 32;
  readonly big: boolean;
  readonly max: readonly [number, number, number];
  readonly shift: readonly [number, number, number];
}

export class Viewer {
  /** How many updates came. */
  updates = 0;
  /** Lines of pixels in the last update. */
  rowsOfLast = 0;
  readonly ended: Promise<void>;
  end: () => void = () => undefined;
  readonly #send: (bytes: Buffer) => void;
  #held = Buffer.alloc(0);
  #more: () => void = () => undefined;
  #bytesPerPixel = 4;
  #opened = false;
  #asked = false;
  readonly #dots: boolean[][] = Array.from({ length: HEIGHT }, () => []);

  constructor(send: (bytes: Buffer) => void) {
    this.#send = send;
    this.ended = new Promise((resolve) => {
      this.end = resolve;
    });
  }

  hear(bytes: Buffer): void {
    this.#held = Buffer.concat([this.#held, bytes]);
    if (this.#opened) while (this.#readUpdate());
    this.#more();
  }

  /** Version, security and ClientInit at once, as nobody forbids. */
  greet(version = '003.008'): void {
    this.#send(Buffer.from(`RFB ${version}\n\x01\x01`, 'latin1'));
  }

  async open(version = '003.008'): Promise<{ width: number; height: number; name: string }> {
    this.greet(version);
    assert.equal((await this.#take(12)).toString(), 'RFB 003.008\n');
    assert.deepEqual([...(await this.#take(2))], [1, 1]);
    if (version === '003.008') assert.equal((await this.#take(4)).readUInt32BE(), 0);
    const init = await this.#take(24);
    const name = (await this.#take(init.readUInt32BE(20))).toString();
    this.#opened = true;
    return { width: init.readUInt16BE(0), height: init.readUInt16BE(2), name };
  }

  format({ bits, big, max, shift }: Format): void {
    const bytes = Buffer.alloc(20);
    bytes.set([bits, bits === 32 ? 24 : bits, big ? 1 : 0, 1], 4);
    for (const [index, value] of max.entries()) bytes.writeUInt16BE(value, 8 + 2 * index);
    bytes.set(shift, 14);
    this.#bytesPerPixel = bits / 8;
    this.#send(bytes);
  }

  request({ incremental }: { incremental: boolean }): void {
    const bytes = Buffer.from([3, incremental ? 1 : 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.writeUInt16BE(WIDTH, 6);
    bytes.writeUInt16BE(HEIGHT, 8);
    this.#asked = true;
    this.#send(bytes);
  }

  /** Asks for an update and waits for it; gives how many lines of pixels it had. */
  async update({ incremental = false }: { incremental?: boolean } = {}): Promise<number> {
    const before = this.updates;
    this.request({ incremental });
    await this.#until(() => this.updates > before);
    return this.rowsOfLast;
  }

  /** Asks for updates until the screen is as it should be. */
  async until(isSo: () => boolean): Promise<void> {
    const deadline = Date.now() + WAIT_MAX_MS;
    while (!isSo()) {
      assert.ok(Date.now() < deadline, `the screen says:\n${this.screen()}`);
      const before = this.updates;
      if (!this.#asked) this.request({ incremental: true });
      await this.#until(() => this.updates > before);
    }
  }

  key(keysym: number, down: boolean): void {
    const bytes = Buffer.from([4, down ? 1 : 0, 0, 0, 0, 0, 0, 0]);
    bytes.writeUInt32BE(keysym, 4);
    this.#send(bytes);
  }

  press(keysym: number): void {
    this.key(keysym, true);
    this.key(keysym, false);
  }

  type(text: string): void {
    for (const letter of text) this.press(letter.charCodeAt(0));
  }

  pointer(x: number, y: number): void {
    this.#send(Buffer.from([5, 1, 0, x, 0, y]));
  }

  paste(text: string): void {
    const head = Buffer.from([6, 0, 0, 0, 0, 0, 0, 0]);
    head.writeUInt32BE(text.length, 4);
    this.#send(Buffer.concat([head, Buffer.from(text)]));
  }

  /** A row of letters, without the spaces at its end. */
  text(row: number): string {
    return Array.from({ length: COLUMNS }, (_, column) => this.#letter(row, column))
      .join('')
      .trimEnd();
  }

  screen(): string {
    return Array.from({ length: ROWS }, (_, row) => this.text(row)).join('\n');
  }

  #letter(row: number, column: number): string {
    const lines = Array.from({ length: CELL_HEIGHT }, (_, y) => {
      const dots = this.#dots[row * CELL_HEIGHT + y] ?? [];
      return dots
        .slice(column * CELL_WIDTH, (column + 1) * CELL_WIDTH)
        .reduce((sum, dot) => sum * 2 + (dot ? 1 : 0), 0);
    });
    return LETTERS.get(lines.join()) ?? '?';
  }

  #readUpdate(): boolean {
    if (this.#held.length < 4) return false;
    let at = 4;
    const areas: { y: number; height: number; pixels: Buffer }[] = [];
    for (let left = this.#held.readUInt16BE(2); left > 0; left -= 1) {
      if (this.#held.length < at + 12) return false;
      const [y, width, height] = [2, 4, 6].map((offset) => this.#held.readUInt16BE(at + offset)) as [
        number,
        number,
        number,
      ];
      const size = width * height * this.#bytesPerPixel;
      if (this.#held.length < at + 12 + size) return false;
      areas.push({ y, height, pixels: this.#held.subarray(at + 12, at + 12 + size) });
      at += 12 + size;
    }
    for (const area of areas) this.#paint(area);
    this.#held = this.#held.subarray(at);
    this.rowsOfLast = areas.reduce((sum, { height }) => sum + height, 0);
    this.updates += 1;
    this.#asked = false;
    return true;
  }

  /** The top left dot is paper: nothing is written in the first row. What differs from it is ink. */
  #paint({ y, height, pixels }: { y: number; height: number; pixels: Buffer }): void {
    const size = this.#bytesPerPixel;
    const paper = pixels.toString('hex', 0, size);
    for (let line = 0; line < height; line += 1) {
      this.#dots[y + line] = Array.from({ length: WIDTH }, (_, x) => {
        const at = (line * WIDTH + x) * size;
        return pixels.toString('hex', at, at + size) !== paper;
      });
    }
  }

  async #take(count: number): Promise<Buffer> {
    await this.#until(() => this.#held.length >= count);
    const taken = this.#held.subarray(0, count);
    this.#held = this.#held.subarray(count);
    return taken;
  }

  async #until(isSo: () => boolean): Promise<void> {
    const late = setTimeout(() => this.#more(), WAIT_MAX_MS);
    const deadline = Date.now() + WAIT_MAX_MS;
    while (!isSo()) {
      assert.ok(Date.now() < deadline, `nothing came; the screen says:\n${this.screen()}`);
      await new Promise<void>((resolve) => {
        this.#more = resolve;
      });
    }
    clearTimeout(late);
  }
}
