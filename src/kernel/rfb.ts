/**
 * Splits what a client sends in RFB (VNC, RFC 6143 and the extensions of browser clients) into messages,
 * regardless of chunk boundaries. Supports only versions 3.7 and 3.8 without security: access is controlled
 * by tickets, and a password in the protocol would only obscure where messages end.
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

/** The client sent invalid or unsupported RFB: the connection must be closed. */
export class RfbError extends Error {}

interface MessageShape {
  readonly name: ClientMessageName;
  /** The number of bytes that determine the length of the message. */
  readonly headerBytes: number;
  /** The number of bytes after the header that belong to the message. */
  readonly trailingBytes?: (head: Buffer) => number;
  /** The number of bytes after the message that are discarded. */
  readonly skippedBytes?: (head: Buffer) => number;
}

const ENCODINGS_MAX = 1_024;
/** Marks a pointer message of eight or more buttons, which is one byte longer. */
const MANY_BUTTONS = 0x80;

const VERSION: MessageShape = { name: 'version', headerBytes: 12 };
const SECURITY: MessageShape = { name: 'security', headerBytes: 1 };
const INIT: MessageShape = { name: 'init', headerBytes: 1 };
const SECURITY_NONE = 1;

const POINTER: MessageShape = { name: 'pointer', headerBytes: 6 };
const LONG_POINTER: MessageShape = {
  ...POINTER,
  trailingBytes: (head) => (head.readUInt8(1) & MANY_BUTTONS ? 1 : 0),
};

const SHAPES: ReadonlyMap<number, MessageShape> = new Map<number, MessageShape>([
  [0, { name: 'set_pixel_format', headerBytes: 20 }],
  [2, { name: 'set_encodings', headerBytes: 4, trailingBytes: encodingsLength }],
  [3, { name: 'update_request', headerBytes: 10 }],
  [4, { name: 'key', headerBytes: 8 }],
  [5, POINTER],
  // A negative length marks the extended clipboard.
  [6, { name: 'cut_text', headerBytes: 8, skippedBytes: (head) => Math.abs(head.readInt32BE(4)) }],
  [150, { name: 'continuous_updates', headerBytes: 10 }],
  [248, { name: 'fence', headerBytes: 9, trailingBytes: (head) => head.readUInt8(8) }],
  [250, { name: 'xvp', headerBytes: 4 }],
  [251, { name: 'set_desktop_size', headerBytes: 8, trailingBytes: (head) => 16 * head.readUInt8(6) }],
  // Only the key message of QEMU: its other messages are for audio.
  [255, { name: 'qemu_key', headerBytes: 12 }],
]);

function encodingsLength(head: Buffer): number {
  const count = head.readUInt16BE(2);
  if (count > ENCODINGS_MAX) throw new RfbError('too many encodings');
  return 4 * count;
}

/** Reads the bytes of one client. Buffers one incomplete message, at most a few kilobytes. */
export class RfbClientReader {
  /** The remaining handshake messages. */
  readonly #handshake: MessageShape[] = [VERSION, SECURITY, INIT];
  readonly #longPointer: boolean;
  #buffer: Buffer = Buffer.alloc(0);
  #skip = 0;

  /** `longPointer`: the server announced, or may have announced, pointers with more than seven buttons. */
  constructor({ longPointer }: { longPointer: boolean }) {
    this.#longPointer = longPointer;
  }

  /**
   * Returns the messages that these bytes complete, in order. After an `RfbError`, nothing more can be read.
   */
  push(chunk: Buffer): ClientMessage[] {
    const messages: ClientMessage[] = [];
    let remaining = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
    for (;;) {
      const dropped = Math.min(this.#skip, remaining.length);
      this.#skip -= dropped;
      remaining = remaining.subarray(dropped);
      const shape = this.#shapeOf(remaining);
      if (!shape || remaining.length < shape.headerBytes) break;
      const length = shape.headerBytes + (shape.trailingBytes?.(remaining) ?? 0);
      if (remaining.length < length) break;
      const bytes = remaining.subarray(0, length);
      this.#accept(shape, bytes);
      messages.push({ name: shape.name, bytes });
      remaining = remaining.subarray(length);
    }
    // Copy, so that a few bytes do not keep a large chunk in memory.
    this.#buffer = Buffer.from(remaining);
    return messages;
  }

  #shapeOf(bytes: Buffer): MessageShape | undefined {
    const [expected] = this.#handshake;
    if (expected) return expected;
    const [type, subtype] = bytes;
    if (type === undefined) return undefined;
    const shape = SHAPES.get(type);
    if (!shape) throw new RfbError(`unknown message ${type}`);
    if (shape.name === 'qemu_key' && subtype !== undefined && subtype !== 0) {
      throw new RfbError(`unknown message ${type}.${subtype}`);
    }
    return shape === POINTER && this.#longPointer ? LONG_POINTER : shape;
  }

  #accept(shape: MessageShape, bytes: Buffer): void {
    if (this.#handshake[0] === shape) {
      this.#handshake.shift();
      checkHandshake(shape, bytes);
    }
    this.#skip = shape.skippedBytes?.(bytes) ?? 0;
  }
}

function checkHandshake(shape: MessageShape, bytes: Buffer): void {
  if (shape === VERSION && !/^RFB 003\.00[78]\n$/.test(bytes.toString('latin1'))) {
    throw new RfbError('unsupported protocol version');
  }
  if (shape === SECURITY && bytes[0] !== SECURITY_NONE)
    throw new RfbError('this security type was not offered');
}
