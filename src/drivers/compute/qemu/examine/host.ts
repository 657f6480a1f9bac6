/** What this machine lacks to carry guests, in plain words; the rest is proved by booting some. */
import type { Examined, Promised } from '../../../../ports/compute.ts';
import type { QemuHost } from '../host.ts';
import { bootImages } from './boot-images.ts';
import { bootNothing } from './boot-nothing.ts';
import { untilInterrupted } from './interrupted.ts';
import { limits, programs, user } from './programs.ts';
import type { Another } from './scratch.ts';
import { addresses, blackHoles, devices, forwarding, kernel, promises, space } from './system.ts';

type Look = (host: QemuHost) => Promise<readonly Examined[]>;

/** In the order in which one stands on the other. */
const LOOKS: readonly Look[] = [user, programs, devices, kernel, forwarding, addresses, limits, space];

export async function* examineHost(
  host: QemuHost,
  { promised, another }: { readonly promised: Promised; readonly another: Another },
): AsyncIterable<Examined> {
  let lacking = false;
  for (const look of LOOKS) {
    for (const found of await look(host)) {
      lacking ||= found.level === 'look';
      yield found;
    }
  }
  yield* await promises(host, promised);
  yield* await blackHoles(host, promised);
  if (lacking) {
    yield { level: 'note', what: 'boot', says: 'not tried: mend what is above first' };
    return;
  }
  yield* untilInterrupted((signal) => boots(host, another, signal));
}

async function* boots(host: QemuHost, another: Another, signal: AbortSignal): AsyncIterable<Examined> {
  const first = await bootNothing(host, signal);
  yield first;
  if (first.level === 'ok') yield* bootImages(host, another, signal);
}
