/**
 * An RFB viewer that behaves like noVNC: it performs the handshake, requests updates, and reads text from the
 * pixels.
 */
import assert from 'node:assert/strict';
import { CELL_HEIGHT, CELL_WIDTH, drawRow } from '../../src/drivers/compute/simulator/screen-font.ts';
import { COLUMNS, ROWS } from '../../src/drivers/compute/simulator/screen-text.ts';

const WAIT_TIMEOUT_MS = 10_000;
const WIDTH = 640;
const HEIGHT = ROWS * CELL_HEIGHT;
const GLYPHS = new Map(
  Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)).map((letter) => [
    [...drawRow(letter, CELL_WIDTH, 1)].map((pixel) => (pixel > 0 ? 1 : 0)).join(''),
    letter,
  ]),
);

export interface PixelFormat {
  readonly bits: 8 | 16 | 32;
  readonly bigEndian: boolean;
  readonly max: readonly [number, number, number];
  readonly shift: readonly [number, number, number];
}

export class RfbViewer {
  /** The number of updates received. */
  updates = 0;
  /** Pixel rows in the last update. */
  lastUpdateRows = 0;
  readonly ended: Promise<void>;
  close: () => void = () => undefined;
  readonly #send: (bytes: Buffer) => void;
  #buffer = Buffer.alloc(0);
  #wake: () => void = () => undefined;
  #bytesPerPixel = 4;
  #opened = false;
  #updatePending = false;
  readonly #pixels: boolean[][] = Array.from({ length: HEIGHT }, () => []);

  constructor(send: (bytes: Buffer) => void) {
    this.#send = send;
    this.ended = new Promise((resolve) => {
      this.close = resolve;
    });
  }

  receive(bytes: Buffer): void {
    this.#buffer = Buffer.concat([this.#buffer, bytes]);
    if (this.#opened) while (this.#readUpdate());
    this.#wake();
  }

  /** Sends version, security type, and ClientInit at once, which the protocol permits. */
  sendHandshake(version = '003.008'): void {
    this.#send(Buffer.from(`RFB ${version}\n\x01\x01`, 'latin1'));
  }

  async open(version = '003.008'): Promise<{ width: number; height: number; name: string }> {
    this.sendHandshake(version);
    assert.equal((await this.#readBytes(12)).toString(), 'RFB 003.008\n');
    assert.deepEqual([...(await this.#readBytes(2))], [1, 1]);
    if (version === '003.008') assert.equal((await this.#readBytes(4)).readUInt32BE(), 0);
    const init = await this.#readBytes(24);
    const name = (await this.#readBytes(init.readUInt32BE(20))).toString();
    this.#opened = true;
    return { width: init.readUInt16BE(0), height: init.readUInt16BE(2), name };
  }

  setPixelFormat({ bits, bigEndian, max, shift }: PixelFormat): void {
    const bytes = Buffer.alloc(20);
    bytes.set([bits, bits === 32 ? 24 : bits, bigEndian ? 1 : 0, 1], 4);
    for (const [index, value] of max.entries()) bytes.writeUInt16BE(value, 8 + 2 * index);
    bytes.set(shift, 14);
    this.#bytesPerPixel = bits / 8;
    this.#send(bytes);
  }

  requestUpdate({ incremental }: { incremental: boolean }): void {
    const bytes = Buffer.from([3, incremental ? 1 : 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    bytes.writeUInt16BE(WIDTH, 6);
    bytes.writeUInt16BE(HEIGHT, 8);
    this.#updatePending = true;
    this.#send(bytes);
  }

  /** Requests an update and waits for it; returns its number of pixel rows. */
  async fetchUpdate({ incremental = false }: { incremental?: boolean } = {}): Promise<number> {
    const before = this.updates;
    this.requestUpdate({ incremental });
    await this.#waitFor(() => this.updates > before);
    return this.lastUpdateRows;
  }

  /** Requests updates until the screen meets the condition. */
  async waitForScreen(condition: () => boolean): Promise<void> {
    const deadline = Date.now() + WAIT_TIMEOUT_MS;
    while (!condition()) {
      assert.ok(Date.now() < deadline, `the screen shows:\n${this.screen()}`);
      const before = this.updates;
      if (!this.#updatePending) this.requestUpdate({ incremental: true });
      await this.#waitFor(() => this.updates > before);
    }
  }

  sendKey(keysym: number, down: boolean): void {
    const bytes = Buffer.from([4, down ? 1 : 0, 0, 0, 0, 0, 0, 0]);
    bytes.writeUInt32BE(keysym, 4);
    this.#send(bytes);
  }

  press(keysym: number): void {
    this.sendKey(keysym, true);
    this.sendKey(keysym, false);
  }

  type(text: string): void {
    for (const letter of text) this.press(letter.charCodeAt(0));
  }

  movePointer(x: number, y: number): void {
    this.#send(Buffer.from([5, 1, 0, x, 0, y]));
  }

  paste(text: string): void {
    const head = Buffer.from([6, 0, 0, 0, 0, 0, 0, 0]);
    head.writeUInt32BE(text.length, 4);
    this.#send(Buffer.concat([head, Buffer.from(text)]));
  }

  /** Returns a row of characters, without trailing spaces. */
  rowText(row: number): string {
    return Array.from({ length: COLUMNS }, (_, column) => this.#glyphAt(row, column))
      .join('')
      .trimEnd();
  }

  screen(): string {
    return Array.from({ length: ROWS }, (_, row) => this.rowText(row)).join('\n');
  }

  #glyphAt(row: number, column: number): string {
    const lines = this.#pixels.slice(row * CELL_HEIGHT, (row + 1) * CELL_HEIGHT);
    const dots = lines.flatMap((line) => line.slice(column * CELL_WIDTH, (column + 1) * CELL_WIDTH));
    return GLYPHS.get(dots.map((dot) => (dot ? 1 : 0)).join('')) ?? '?';
  }

  #readUpdate(): boolean {
    if (this.#buffer.length < 4) return false;
    let at = 4;
    const areas: { y: number; height: number; pixels: Buffer }[] = [];
    for (let left = this.#buffer.readUInt16BE(2); left > 0; left -= 1) {
      if (this.#buffer.length < at + 12) return false;
      const [y, width, height] = [2, 4, 6].map((offset) => this.#buffer.readUInt16BE(at + offset)) as [
        number,
        number,
        number,
      ];
      const size = width * height * this.#bytesPerPixel;
      if (this.#buffer.length < at + 12 + size) return false;
      areas.push({ y, height, pixels: this.#buffer.subarray(at + 12, at + 12 + size) });
      at += 12 + size;
    }
    for (const area of areas) this.#paint(area);
    this.#buffer = this.#buffer.subarray(at);
    this.lastUpdateRows = areas.reduce((sum, { height }) => sum + height, 0);
    this.updates += 1;
    this.#updatePending = false;
    return true;
  }

  /** The top left pixel is background, because the first row has no text. Every other color is foreground. */
  #paint({ y, height, pixels }: { y: number; height: number; pixels: Buffer }): void {
    const size = this.#bytesPerPixel;
    const background = pixels.toString('hex', 0, size);
    for (let line = 0; line < height; line += 1) {
      this.#pixels[y + line] = Array.from({ length: WIDTH }, (_, x) => {
        const at = (line * WIDTH + x) * size;
        return pixels.toString('hex', at, at + size) !== background;
      });
    }
  }

  async #readBytes(count: number): Promise<Buffer> {
    await this.#waitFor(() => this.#buffer.length >= count);
    const taken = this.#buffer.subarray(0, count);
    this.#buffer = this.#buffer.subarray(count);
    return taken;
  }

  async #waitFor(condition: () => boolean): Promise<void> {
    const timer = setTimeout(() => this.#wake(), WAIT_TIMEOUT_MS);
    const deadline = Date.now() + WAIT_TIMEOUT_MS;
    while (!condition()) {
      assert.ok(Date.now() < deadline, `timed out; the screen shows:\n${this.screen()}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    clearTimeout(timer);
  }
}
