/**
 * Tells input from other viewer messages: a console without input ends, and a read-only viewer sends none.
 */
import { type ClientMessageName, RfbClientReader } from '../../kernel/rfb.ts';

/** Every other message is input. */
const NON_INPUT_MESSAGES: ReadonlySet<ClientMessageName> = new Set([
  'version',
  'security',
  'init',
  'set_pixel_format',
  'set_encodings',
  'update_request',
  'continuous_updates',
  'fence',
]);

/** Detects input in a viewer's bytes without changing them. */
export class InputDetector {
  #reader: RfbClientReader | null = new RfbClientReader({ longPointer: true });

  /**
   * Whether a message of input ends in these bytes. If the viewer negotiated something that cannot be parsed,
   * all further bytes count as input.
   */
  containsInput(chunk: Buffer): boolean {
    if (!this.#reader) return true;
    try {
      return this.#reader.push(chunk).some(({ name }) => !NON_INPUT_MESSAGES.has(name));
    } catch {
      this.#reader = null;
      return true;
    }
  }
}

/** Keeps other viewers connected. Without it, a read-only viewer could disconnect the one who types. */
const SHARED_FLAG = Buffer.of(1);

/** Passes on everything but input from a read-only viewer, so that input never reaches the machine. */
export class ViewOnlyFilter {
  readonly #reader = new RfbClientReader({ longPointer: true });

  /**
   * Returns the bytes to pass on. Throws `RfbFault` if a message is not RFB: then the connection must end.
   */
  push(chunk: Buffer): Buffer {
    const allowed = this.#reader.push(chunk).filter(({ name }) => NON_INPUT_MESSAGES.has(name));
    return Buffer.concat(allowed.map(({ name, bytes }) => (name === 'init' ? SHARED_FLAG : bytes)));
  }
}
