/** Opens the screen of a simulated machine, for the driver's `console`. */
import type { Duplex } from 'node:stream';
import type { Clock } from '../../../kernel/clock.ts';
import type { ScreenFacts } from './screen-facts.ts';
import { ScreenServer } from './screen-server.ts';
import { ScreenTerminal } from './screen-terminal.ts';
import { ScreenText } from './screen-text.ts';

const REFRESH_INTERVAL_MS = 1_000;

export interface ScreenOptions {
  /** The facts when the screen is opened. */
  readonly first: ScreenFacts;
  /** Reads the current facts every second of real time. Null or an error closes the screen. */
  readonly readFacts: () => Promise<ScreenFacts | null>;
  /** Business time, for the displayed uptime. */
  readonly clock: Clock;
}

/** Returns a stream that speaks RFB 3.8. Typed text is never stored elsewhere, since it may be a password. */
export function openScreen({ first, readFacts, clock }: ScreenOptions): Duplex {
  const text = new ScreenText();
  const terminal = new ScreenTerminal(text);
  terminal.show(first, clock.now());
  const server = new ScreenServer({
    text,
    name: first.hostname,
    onKey: (keysym, down) => terminal.key(keysym, down),
  });
  let timer: NodeJS.Timeout | undefined;
  const refresh = async () => {
    const facts = await readFacts().catch(() => null);
    if (server.destroyed || server.writableEnded) return;
    if (facts === null) {
      server.finish();
      return;
    }
    terminal.show(facts, clock.now());
    scheduleRefresh();
  };
  const scheduleRefresh = () => {
    timer = setTimeout(refresh, REFRESH_INTERVAL_MS).unref();
  };
  for (const event of ['finish', 'close']) server.once(event, () => clearTimeout(timer));
  scheduleRefresh();
  return server;
}
