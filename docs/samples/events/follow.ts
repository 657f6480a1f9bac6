// Follows the event stream: SKERRY_URL=https://… SKERRY_TOKEN=… node follow.ts [number of the last event you have]
// Node 22.18 or later; nothing to install.
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const COME_AGAIN_MS = 3_000;
/** The service says something every 15 seconds; a connection that is silent for so long is dead. */
const SILENT_MAX_MS = 45_000;
/** What passes by itself: a stream too many (409), too many requests, a fault, maintenance. */
const PASSING = [409, 429, 500, 502, 503, 504];

export interface Event {
  readonly id: string;
  readonly type: string;
  readonly created_at: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly seq: number;
}

/** Every event after the one with this number, for ever; left out: from now on. Throws when the service refuses. */
export async function* follow(url: string, token: string, after?: string): AsyncGenerator<Event> {
  let last = after;
  for (;;) {
    const silence = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const listen = () => {
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENT_MAX_MS);
    };
    listen();
    try {
      const headers = { authorization: `Bearer ${token}`, 'x-service-beta': 'true' };
      const place = last === undefined ? {} : { 'last-event-id': last };
      const response = await fetch(`${url}/v1/events`, {
        headers: { ...headers, ...place },
        signal: silence.signal,
      });
      if (!response.ok && !PASSING.includes(response.status)) throw new Refused(await response.text());
      let text = '';
      for await (const chunk of response.ok ? (response.body ?? []) : []) {
        listen();
        text += Buffer.from(chunk).toString('latin1');
        for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
          const block = text.slice(0, end);
          text = text.slice(end + 2);
          const data = /^data: (.*)$/m.exec(block)?.[1];
          clearTimeout(timer);
          if (data !== undefined) yield JSON.parse(Buffer.from(data, 'latin1').toString('utf8')) as Event;
          listen();
          // Only now: whoever comes again after a crash gets once more what was not handled.
          last = /^id: (.*)$/m.exec(block)?.[1] ?? last;
        }
      }
    } catch (error) {
      if (error instanceof Refused) throw error;
    } finally {
      clearTimeout(timer);
    }
    await sleep(COME_AGAIN_MS);
  }
}

/** Come again as you are and it is the same: the token is over, or the number is no longer kept. */
export class Refused extends Error {}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { SKERRY_URL: url, SKERRY_TOKEN: token } = process.env;
  if (!url || !token) throw new Error('set SKERRY_URL and SKERRY_TOKEN');
  for await (const event of follow(url, token, process.argv[2])) {
    process.stdout.write(`${event.seq} ${event.type} ${event.id}\n`);
  }
}
