/** Opens the screen of a simulated machine: what `console` of the driver answers. */
import type { Duplex } from 'node:stream';
import type { Clock } from '../../../kernel/clock.ts';
import type { ScreenFacts } from './screen-facts.ts';
import { ScreenServer } from './screen-server.ts';
import { ScreenTerminal } from './screen-terminal.ts';
import { ScreenText } from './screen-text.ts';

const REFRESH_INTERVAL_MS = 1_000;

export interface ScreenOptions {
  /** The machine as it is when the screen is opened. */
  readonly first: ScreenFacts;
  /** The machine as it is now, asked every second of real time; null or a throw: it is gone, and so is the screen. */
  readonly readFacts: () => Promise<ScreenFacts | null>;
  /** Business time, in which the machine's uptime is told. */
  readonly clock: Clock;
}

/** A stream that speaks RFB 3.8. What is typed is kept nowhere but in it: it may be a password. */
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
