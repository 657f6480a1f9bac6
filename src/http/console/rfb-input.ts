/** What is input of all that a viewer says: a console without any ends, and who may only look gives none. */
import { type ClientMessageName, RfbClientReader } from '../../kernel/rfb.ts';

/** Everything else is input. */
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

/** Hears input in the bytes of a viewer, which go on whatever they are. */
export class InputDetector {
  #reader: RfbClientReader | null = new RfbClientReader({ longPointer: true });

  /**
   * Whether a message of input ends in these bytes. A viewer who agreed with the screen on what cannot be read here is
   * taken to give input with all that he says from then on.
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

/** Leaves other viewers connected; without it, whoever only looks could throw out the one who types. */
const SHARED_FLAG = Buffer.of(1);

/** Of what a viewer says who may only look, everything that is no input. The screen's own server never hears the rest. */
export class ViewOnlyFilter {
  readonly #reader = new RfbClientReader({ longPointer: true });

  /** What of these bytes goes on. Throws `RfbFault` at what is no message of RFB: then the connection must end. */
  push(chunk: Buffer): Buffer {
    const allowed = this.#reader.push(chunk).filter(({ name }) => NON_INPUT_MESSAGES.has(name));
    return Buffer.concat(allowed.map(({ name, bytes }) => (name === 'init' ? SHARED_FLAG : bytes)));
  }
}
