/** The fleet of a service without hosts on other machines: nothing may be asked of it. */
import type { Fleet } from '../../src/ports/backends.ts';

export const NO_FLEET = new Proxy({} as Fleet, {
  get: (_, call) => {
    throw new Error(`this service has no fleet to ask: ${String(call)}`);
  },
});
