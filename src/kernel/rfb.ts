/**
 * What a client says in RFB (VNC, RFC 6143 and the extensions that browsers speak), cut into its messages whatever
 * chunks it comes in. Only versions 3.7 and 3.8 without security: where nobody is let in but by a ticket, passwords in
 * the protocol would only hide where its messages end.
 */
export type ClientMessageName =
  | 'version'
  | 'security'
  | 'init'
  | 'set_pixel_format'
  | 'set_encodings'
  | 'update_request'
  | 'key'
  | 'pointer'
  | 'cut_text'
  | 'continuous_updates'
  | 'fence'
  | 'xvp'
  | 'set_desktop_size'
  | 'qemu_key';

export interface ClientMessage {
  readonly name: ClientMessageName;
  /** The whole message; of `cut_text` only its first 8 bytes, because its text can be of any length. */
  readonly bytes: Buffer;
}

/** The client says what is no RFB, or none that is spoken here: the connection cannot go on. */
export class RfbFault extends Error {}

interface Shape {
  readonly name: ClientMessageName;
  /** How many bytes tell how long it is. */
  readonly head: number;
  /** Bytes after the head that belong to it. */
  readonly rest?: (head: Buffer) => number;
  /** Bytes after it that are thrown away. */
  readonly skipped?: (head: Buffer) => number;
}

const ENCODINGS_MAX = 1_024;
/** The bit that marks a pointer message of eight buttons and more, which is one byte longer. */
const MANY_BUTTONS = 0x80;

const VERSION: Shape = { name: 'version', head: 12 };
const SECURITY: Shape = { name: 'security', head: 1 };
const INIT: Shape = { name: 'init', head: 1 };
const SECURITY_NONE = 1;

const POINTER: Shape = { name: 'pointer', head: 6 };
const LONG_POINTER: Shape = { ...POINTER, rest: (head) => (head.readUInt8(1) & MANY_BUTTONS ? 1 : 0) };

const SHAPES: ReadonlyMap<number, Shape> = new Map<number, Shape>([
  [0, { name: 'set_pixel_format', head: 20 }],
  [2, { name: 'set_encodings', head: 4, rest: encodingsLength }],
  [3, { name: 'update_request', head: 10 }],
  [4, { name: 'key', head: 8 }],
  [5, POINTER],
  // A negative length marks the extended clipboard.
  [6, { name: 'cut_text', head: 8, skipped: (head) => Math.abs(head.readInt32BE(4)) }],
  [150, { name: 'continuous_updates', head: 10 }],
  [248, { name: 'fence', head: 9, rest: (head) => head.readUInt8(8) }],
  [250, { name: 'xvp', head: 4 }],
  [251, { name: 'set_desktop_size', head: 8, rest: (head) => 16 * head.readUInt8(6) }],
  // Of QEMU's messages only the key: the others are for sound.
  [255, { name: 'qemu_key', head: 12 }],
]);

function encodingsLength(head: Buffer): number {
  const count = head.readUInt16BE(2);
  if (count > ENCODINGS_MAX) throw new RfbFault('too many encodings');
  return 4 * count;
}

/** Reads one client's bytes. It holds back one unfinished message, at most a few kilobytes. */
export class RfbClientReader {
  /** What is still expected of the handshake. */
  readonly #handshake: Shape[] = [VERSION, SECURITY, INIT];
  readonly #longPointer: boolean;
  #held: Buffer = Buffer.alloc(0);
  #skip = 0;

  /** `longPointer`: the server announced pointers of more than seven buttons, or may have. */
  constructor({ longPointer }: { longPointer: boolean }) {
    this.#longPointer = longPointer;
  }

  /** The messages that are whole with these bytes, in order. Throws `RfbFault`, after which nothing more can be read. */
  push(chunk: Buffer): ClientMessage[] {
    const messages: ClientMessage[] = [];
    let left = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    for (;;) {
      const dropped = Math.min(this.#skip, left.length);
      this.#skip -= dropped;
      left = left.subarray(dropped);
      const shape = this.#shapeOf(left);
      if (!shape || left.length < shape.head) break;
      const length = shape.head + (shape.rest?.(left) ?? 0);
      if (left.length < length) break;
      const bytes = left.subarray(0, length);
      this.#accept(shape, bytes);
      messages.push({ name: shape.name, bytes });
      left = left.subarray(length);
    }
    // A copy, so that a few bytes do not keep a large chunk alive.
    this.#held = Buffer.from(left);
    return messages;
  }

  #shapeOf(bytes: Buffer): Shape | undefined {
    const [expected] = this.#handshake;
    if (expected) return expected;
    const [type, subtype] = bytes;
    if (type === undefined) return undefined;
    const shape = SHAPES.get(type);
    if (!shape) throw new RfbFault(`unknown message ${type}`);
    if (shape.name === 'qemu_key' && subtype !== undefined && subtype !== 0) {
      throw new RfbFault(`unknown message ${type}.${subtype}`);
    }
    return shape === POINTER && this.#longPointer ? LONG_POINTER : shape;
  }

  #accept(shape: Shape, bytes: Buffer): void {
    if (this.#handshake[0] === shape) {
      this.#handshake.shift();
      checkHandshake(shape, bytes);
    }
    this.#skip = shape.skipped?.(bytes) ?? 0;
  }
}

function checkHandshake(shape: Shape, bytes: Buffer): void {
  if (shape === VERSION && !/^RFB 003\.00[78]\n$/.test(bytes.toString('latin1'))) {
    throw new RfbFault('a version that is not spoken here');
  }
  if (shape === SECURITY && bytes[0] !== SECURITY_NONE) throw new RfbFault('a security type not offered');
}
