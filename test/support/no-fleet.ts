/** The fleet of a service without hosts on other machines: no facts are known, and nothing else is asked. */
import type { Fleet } from '../../src/ports/backends.ts';

export const NO_FLEET = new Proxy({} as Fleet, {
  get: (_, call) => {
    if (call === 'readFacts') return async () => [];
    throw new Error(`this service has no fleet to ask: ${String(call)}`);
  },
});
