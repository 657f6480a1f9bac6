// Follows the event stream: SKERRY_URL=https://… SKERRY_TOKEN=… node follow.ts [seq of your last event]
// Needs Node 22.18 or later, no packages.
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const RECONNECT_MS = 3_000;
/** The service sends a heartbeat every 15 seconds. After this much silence the connection is dead. */
const SILENT_MAX_MS = 45_000;
/** Temporary errors: too many streams (409), too many requests, server errors, maintenance. */
const TEMPORARY = [409, 429, 500, 502, 503, 504];

export interface Event {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly seq: number;
}

/**
 * Yields every event after this `seq`, without end. Without `after`, it begins with the next event. Throws
 * `Refused` if the service rejects the request for good.
 */
export async function* follow(url: string, token: string, after?: string): AsyncGenerator<Event> {
  let last = after;
  for (;;) {
    const silence = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const restartTimer = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENT_MAX_MS);
    };
    restartTimer();
    try {
      const headers = { authorization: `Bearer ${token}`, 'x-service-beta': 'true' };
      const position = last === undefined ? {} : { 'last-event-id': last };
      const response = await fetch(`${url}/v1/events`, {
        headers: { ...headers, ...position },
        signal: silence.signal,
      });
      if (!response.ok && !TEMPORARY.includes(response.status)) throw new Refused(await response.text());
      let text = '';
      for await (const chunk of response.ok ? (response.body ?? []) : []) {
        restartTimer();
        text += Buffer.from(chunk).toString('latin1');
        for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
          const block = text.slice(0, end);
          text = text.slice(end + 2);
          const data = /^data: (.*)$/m.exec(block)?.[1];
          clearTimeout(timer);
          if (data !== undefined) yield JSON.parse(Buffer.from(data, 'latin1').toString('utf8')) as Event;
          restartTimer();
          // Advance only after the event was processed, so that a crash repeats it.
          last = /^id: (.*)$/m.exec(block)?.[1] ?? last;
        }
      }
    } catch (error) {
      if (error instanceof Refused) throw error;
    } finally {
      clearTimeout(timer);
    }
    await sleep(RECONNECT_MS);
  }
}

/** The request will keep failing: the token is invalid, or the event is no longer kept. */
export class Refused extends Error {}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { SKERRY_URL: url, SKERRY_TOKEN: token } = process.env;
  if (!url || !token) throw new Error('set SKERRY_URL and SKERRY_TOKEN');
  for await (const event of follow(url, token, process.argv[2])) {
    process.stdout.write(`${event.seq} ${event.type} ${event.id}\n`);
  }
}
