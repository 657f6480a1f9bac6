/**
 * The simulated screen's end of RFB 3.8: no security, Raw rectangles, one update for each request and only when there
 * is something new. At most one update is made ahead of a slow viewer.
 */
import { Duplex } from 'node:stream';
import { type ClientMessage, RfbClientReader, RfbFault } from '../../../kernel/rfb.ts';
import { CELL_HEIGHT } from './screen-font.ts';
import {
  DEFAULT_FORMAT,
  drawRows,
  HEIGHT,
  type PixelFormat,
  type RowRange,
  readFormat,
  WIDTH,
  writeFormat,
} from './screen-pixels.ts';
import { ROWS, type ScreenText } from './screen-text.ts';

export interface ScreenServerOptions {
  readonly text: ScreenText;
  /** What viewers call it. */
  readonly name: string;
  /** A key went down or up, by its X keysym. */
  readonly onKey: (keysym: number, down: boolean) => void;
}

interface Wanted extends RowRange {
  /** Whether also what the viewer has already. */
  readonly whole: boolean;
}

export class ScreenServer extends Duplex {
  readonly #options: ScreenServerOptions;
  readonly #reader = new RfbClientReader({ longPointer: false });
  /** Which change of each row the viewer has. */
  readonly #sent: number[] = Array.from({ length: ROWS }, () => 0);
  #format: PixelFormat = DEFAULT_FORMAT;
  #saysResult = true;
  #wanted: Wanted | null = null;
  #hasRoom = true;
  #over = false;

  constructor(options: ScreenServerOptions) {
    super();
    this.#options = options;
    options.text.onChange = () => this.#answer();
    this.push('RFB 003.008\n');
  }

  /** There is nothing more to see. */
  finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.push(null);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    try {
      for (const message of this.#reader.push(chunk)) this.#hear(message);
      done();
    } catch (error) {
      done(error instanceof Error ? error : new Error('unreadable'));
    }
  }

  override _read(): void {
    this.#hasRoom = true;
    this.#answer();
  }

  override _final(done: () => void): void {
    this.finish();
    done();
  }

  #hear({ name, bytes }: ClientMessage): void {
    if (this.#over) return;
    if (name === 'version') {
      this.#saysResult = bytes.toString('latin1').startsWith('RFB 003.008');
      this.push(Buffer.of(1, 1));
    } else if (name === 'security') {
      if (this.#saysResult) this.push(Buffer.alloc(4));
    } else if (name === 'init') {
      this.push(this.#serverInit());
    } else if (name === 'set_pixel_format') {
      this.#format = readFormat(bytes.subarray(4)) ?? refuseFormat();
      this.#sent.fill(0);
    } else if (name === 'update_request') {
      this.#want(bytes);
    } else if (name === 'key') {
      this.#options.onKey(bytes.readUInt32BE(4), bytes[1] !== 0);
    }
  }

  #serverInit(): Buffer {
    const size = Buffer.alloc(4);
    size.writeUInt16BE(WIDTH, 0);
    size.writeUInt16BE(HEIGHT, 2);
    const name = Buffer.from(this.#options.name);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(name.length);
    return Buffer.concat([size, writeFormat(DEFAULT_FORMAT), length, name]);
  }

  #want(request: Buffer): void {
    const [top, height] = [request.readUInt16BE(4), request.readUInt16BE(8)];
    const first = Math.min(Math.floor(top / CELL_HEIGHT), ROWS);
    const end = Math.min(Math.ceil((top + height) / CELL_HEIGHT), ROWS);
    // A request that was not answered yet is part of this one.
    const whole = request[1] === 0 || this.#wanted?.whole === true;
    this.#wanted = { first, count: Math.max(end - first, 0), whole };
    this.#answer();
  }

  #answer(): void {
    const wanted = this.#wanted;
    if (!wanted || !this.#hasRoom || this.#over) return;
    const changed = this.#runs(wanted);
    if (changed.length === 0 && !wanted.whole) return;
    this.#wanted = null;
    const head = Buffer.alloc(4);
    head.writeUInt16BE(changed.length, 2);
    const update = Buffer.concat([head, ...changed.flatMap((run) => this.#rectangle(run))]);
    this.#hasRoom = this.push(update);
  }

  /** The rows to send, neighbours together. */
  #runs({ first, count, whole }: Wanted): RowRange[] {
    const runs: { first: number; count: number }[] = [];
    for (let row = first; row < first + count; row += 1) {
      const change = this.#options.text.changeOf(row);
      if (!whole && change === this.#sent[row]) continue;
      this.#sent[row] = change;
      const last = runs.at(-1);
      if (last && last.first + last.count === row) last.count += 1;
      else runs.push({ first: row, count: 1 });
    }
    return runs;
  }

  #rectangle(run: RowRange): Buffer[] {
    const head = Buffer.alloc(12);
    head.writeUInt16BE(run.first * CELL_HEIGHT, 2);
    head.writeUInt16BE(WIDTH, 4);
    head.writeUInt16BE(run.count * CELL_HEIGHT, 6);
    return [head, drawRows(this.#options.text, run, this.#format)];
  }
}

function refuseFormat(): never {
  throw new RfbFault('a pixel format that is not drawn here');
}
