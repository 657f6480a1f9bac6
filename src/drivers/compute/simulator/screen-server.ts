/**
 * The simulated screen's RFB 3.8 server: no security, Raw rectangles, and one update per request, only when
 * something changed. It prepares at most one update ahead of a slow viewer.
 */
import { Duplex } from 'node:stream';
import { type ClientMessage, RfbClientReader, RfbError } from '../../../kernel/rfb.ts';
import { CELL_HEIGHT } from './screen-font.ts';
import {
  DEFAULT_FORMAT,
  drawRows,
  encodePixelFormat,
  HEIGHT,
  type PixelFormat,
  parsePixelFormat,
  type RowRange,
  WIDTH,
} from './screen-pixels.ts';
import { ROWS, type ScreenText } from './screen-text.ts';

export interface ScreenServerOptions {
  readonly text: ScreenText;
  /** The desktop name that viewers show. */
  readonly name: string;
  /** Called with the X keysym when a key is pressed or released. */
  readonly onKey: (keysym: number, down: boolean) => void;
}

interface UpdateRequest extends RowRange {
  /** Whether to send everything, including rows that the viewer already has. */
  readonly isFull: boolean;
}

export class ScreenServer extends Duplex {
  readonly #options: ScreenServerOptions;
  readonly #reader = new RfbClientReader({ longPointer: false });
  /** The revision of each row that the viewer has. */
  readonly #sentRevisions: number[] = Array.from({ length: ROWS }, () => 0);
  #format: PixelFormat = DEFAULT_FORMAT;
  #sendsSecurityResult = true;
  #pendingRequest: UpdateRequest | null = null;
  #canPush = true;
  #isFinished = false;

  constructor(options: ScreenServerOptions) {
    super();
    this.#options = options;
    options.text.onChange = () => this.#sendUpdate();
    this.push('RFB 003.008\n');
  }

  /** Ends the stream. */
  finish(): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.push(null);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    try {
      for (const message of this.#reader.push(chunk)) this.#handleMessage(message);
      done();
    } catch (error) {
      done(error instanceof Error ? error : new Error('invalid RFB message'));
    }
  }

  override _read(): void {
    this.#canPush = true;
    this.#sendUpdate();
  }

  override _final(done: () => void): void {
    this.finish();
    done();
  }

  #handleMessage({ name, bytes }: ClientMessage): void {
    if (this.#isFinished) return;
    if (name === 'version') {
      this.#sendsSecurityResult = bytes.toString('latin1').startsWith('RFB 003.008');
      this.push(Buffer.of(1, 1));
    } else if (name === 'security') {
      if (this.#sendsSecurityResult) this.push(Buffer.alloc(4));
    } else if (name === 'init') {
      this.push(this.#serverInit());
    } else if (name === 'set_pixel_format') {
      this.#format = parsePixelFormat(bytes.subarray(4)) ?? throwUnsupportedFormat();
      this.#sentRevisions.fill(0);
    } else if (name === 'update_request') {
      this.#handleUpdateRequest(bytes);
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
    return Buffer.concat([size, encodePixelFormat(DEFAULT_FORMAT), length, name]);
  }

  #handleUpdateRequest(request: Buffer): void {
    const [top, height] = [request.readUInt16BE(4), request.readUInt16BE(8)];
    const first = Math.min(Math.floor(top / CELL_HEIGHT), ROWS);
    const end = Math.min(Math.ceil((top + height) / CELL_HEIGHT), ROWS);
    // This request replaces an unanswered one, so it must cover that one too.
    const isFull = request[1] === 0 || this.#pendingRequest?.isFull === true;
    this.#pendingRequest = { first, count: Math.max(end - first, 0), isFull };
    this.#sendUpdate();
  }

  #sendUpdate(): void {
    const pending = this.#pendingRequest;
    if (!pending || !this.#canPush || this.#isFinished) return;
    const changed = this.#changedRanges(pending);
    if (changed.length === 0 && !pending.isFull) return;
    this.#pendingRequest = null;
    const head = Buffer.alloc(4);
    head.writeUInt16BE(changed.length, 2);
    const update = Buffer.concat([head, ...changed.flatMap((run) => this.#rectangle(run))]);
    this.#canPush = this.push(update);
  }

  /** Returns the rows to send, with adjacent rows merged. */
  #changedRanges({ first, count, isFull }: UpdateRequest): RowRange[] {
    const ranges: { first: number; count: number }[] = [];
    for (let row = first; row < first + count; row += 1) {
      const revision = this.#options.text.rowRevision(row);
      if (!isFull && revision === this.#sentRevisions[row]) continue;
      this.#sentRevisions[row] = revision;
      const last = ranges.at(-1);
      if (last && last.first + last.count === row) last.count += 1;
      else ranges.push({ first: row, count: 1 });
    }
    return ranges;
  }

  #rectangle(run: RowRange): Buffer[] {
    const head = Buffer.alloc(12);
    head.writeUInt16BE(run.first * CELL_HEIGHT, 2);
    head.writeUInt16BE(WIDTH, 4);
    head.writeUInt16BE(run.count * CELL_HEIGHT, 6);
    return [head, drawRows(this.#options.text, run, this.#format)];
  }
}

function throwUnsupportedFormat(): never {
  throw new RfbError('unsupported pixel format');
}
