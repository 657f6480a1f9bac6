/** What a viewer who may only look can say: everything that is no input. The screen's own server never hears the rest. */
import { type ClientMessageName, RfbClientReader } from '../../kernel/rfb.ts';

const PASSES: ReadonlySet<ClientMessageName> = new Set([
  'version',
  'security',
  'init',
  'set_pixel_format',
  'set_encodings',
  'update_request',
  'continuous_updates',
  'fence',
]);

/** Leaves other viewers connected; without it, whoever only looks could throw out the one who types. */
const SHARED = Buffer.of(1);

export class ViewOnlyFilter {
  readonly #reader = new RfbClientReader({ longPointer: true });

  /** What of these bytes goes on. Throws `RfbFault` at what is no message of RFB: then the connection must end. */
  push(chunk: Buffer): Buffer {
    const passed = this.#reader.push(chunk).filter(({ name }) => PASSES.has(name));
    return Buffer.concat(passed.map(({ name, bytes }) => (name === 'init' ? SHARED : bytes)));
  }
}
