/**
 * The screen of a simulated machine as an RFB 3.8 server (RFC 6143): no security, and one update of Raw
 * rectangles per request, only when something changed. It prepares at most one update ahead of a slow viewer.
 */
import { Duplex } from 'node:stream';
import { type ClientMessage, RfbClientReader, RfbError } from '../../../kernel/rfb.ts';
import type { Sql } from '../../../kernel/sql.ts';
import { isInRescue, requireMachine, stateAt } from './machine.ts';
import { CELL_HEIGHT, drawRow } from './screen-font.ts';
import { ROWS, type ScreenFacts, ScreenText } from './screen-text.ts';

const REFRESH_INTERVAL_MS = 1_000;
/** A little wider than the text. */
const WIDTH = 640;
const HEIGHT = ROWS * CELL_HEIGHT;
/** 32 bits with 8 each for red, green, and blue. Most viewers ask for their own format. */
const PIXEL_FORMAT = Buffer.from([32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0]);

/**
 * Opens the screen of a machine with these facts. They are read again every second of real time; null or an
 * error closes the screen. Typed text is never stored elsewhere, since it may be a password.
 */
export function openScreen(facts: ScreenFacts, readFacts: () => Promise<ScreenFacts | null>): Duplex {
  return new Screen(facts, readFacts);
}

class Screen extends Duplex {
  readonly #text: ScreenText;
  readonly #name: string;
  readonly #reader = new RfbClientReader({ longPointer: false });
  readonly #refreshTimer: NodeJS.Timeout;
  /** The rows that the viewer has. */
  #sentRows: string[] = [];
  #bytesPerPixel = 4;
  #sendsSecurityResult = true;
  #pendingRequest: 'all rows' | 'changed rows' | null = null;
  #canPush = true;
  #isFinished = false;

  constructor(facts: ScreenFacts, readFacts: () => Promise<ScreenFacts | null>) {
    super();
    this.#text = new ScreenText(facts);
    this.#name = facts.hostname;
    let isReading = false;
    this.#refreshTimer = setInterval(async () => {
      if (isReading) return;
      isReading = true;
      const current = await readFacts().catch(() => null);
      isReading = false;
      if (current === null) return this.#finish();
      this.#text.show(current);
      this.#sendUpdate();
    }, REFRESH_INTERVAL_MS).unref();
    this.push('RFB 003.008\n');
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
    this.#finish();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearInterval(this.#refreshTimer);
    this.#isFinished = true;
    done(error);
  }

  #finish(): void {
    clearInterval(this.#refreshTimer);
    if (this.#isFinished) return;
    this.#isFinished = true;
    this.push(null);
  }

  #handleMessage({ name, bytes }: ClientMessage): void {
    if (this.#isFinished) return;
    if (name === 'version') {
      this.#sendsSecurityResult = bytes.toString('latin1').startsWith('RFB 003.008');
      this.push(Buffer.of(1, 1));
    } else if (name === 'security') {
      if (this.#sendsSecurityResult) this.push(Buffer.alloc(4));
    } else if (name === 'init') {
      const title = Buffer.from(this.#name);
      this.push(Buffer.concat([uint16s(WIDTH, HEIGHT), PIXEL_FORMAT, uint16s(0, title.length), title]));
    } else if (name === 'set_pixel_format') {
      this.#setPixelFormat(bytes.subarray(4));
    } else if (name === 'update_request') {
      // This request replaces an unanswered one, so it must cover that one too.
      if (bytes[1] === 0 || this.#pendingRequest === null)
        this.#pendingRequest = bytes[1] === 0 ? 'all rows' : 'changed rows';
      this.#sendUpdate();
    } else if (name === 'key') {
      this.#text.key(bytes.readUInt32BE(4), bytes[1] !== 0);
      this.#sendUpdate();
    }
  }

  #setPixelFormat(format: Buffer): void {
    const [bits = 0, , , isTrueColor] = format;
    if (![8, 16, 32].includes(bits) || isTrueColor === 0) throw new RfbError('unsupported pixel format');
    this.#bytesPerPixel = bits / 8;
    this.#sentRows = [];
  }

  /** Sends whole rows, whichever area was requested: viewers request the whole screen. */
  #sendUpdate(): void {
    if (this.#pendingRequest === null || !this.#canPush || this.#isFinished) return;
    const isFull = this.#pendingRequest === 'all rows';
    const rows = this.#text.rows();
    const changed = [...rows.entries()].filter(([at, row]) => isFull || row !== this.#sentRows[at]);
    if (changed.length === 0) return;
    this.#pendingRequest = null;
    this.#sentRows = rows;
    const rectangles = changed.flatMap(([at, row]) => [
      uint16s(0, at * CELL_HEIGHT, WIDTH, CELL_HEIGHT, 0, 0),
      drawRow(row, WIDTH, this.#bytesPerPixel),
    ]);
    this.#canPush = this.push(Buffer.concat([uint16s(0, changed.length), ...rectangles]));
  }
}

function uint16s(...values: number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, 2 * index);
  return bytes;
}

export async function readScreenFacts(sql: Sql, id: string, now: Date): Promise<ScreenFacts> {
  const { installed, ...machine } = await requireMachine(sql, id);
  return {
    hostname: installed.hostname,
    state: stateAt(machine, now),
    image: `${installed.image.family} ${installed.image.version}`,
    ipv4: installed.ipv4.address,
    ipv6: installed.ipv6.address,
    rescue: isInRescue(machine, now),
    bootedAt: machine.booted_at,
  };
}
