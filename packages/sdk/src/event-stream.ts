/** Server-sent events, as far as the service sends them: messages out of the pieces in which they come. */
import { createParser } from 'eventsource-parser';
import type { AttemptSignal } from './attempt-signal.ts';
import { ConnectionError } from './errors.ts';

/** The service says something every 15 seconds: a connection that is silent for so long is dead. */
export const SILENCE_TIMEOUT_MS = 45_000;
/** An event is much smaller; what is larger is no stream of events. */
const MESSAGE_MAX_CHARS = 4 * 1024 * 1024;

/** The connection is over while it was read. */
export class StreamBrokenError extends Error {}

/** What stands between two blank lines. */
export interface Message {
  readonly id: string | undefined;
  readonly data: string | undefined;
  readonly retryMs: number | undefined;
}

/** Each message as it comes; fails with a StreamBroken when the connection is over otherwise than by the service's own end. */
export async function* readMessages(
  body: ReadableStream<Uint8Array>,
  connection: AttemptSignal,
): AsyncGenerator<Message, void> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  // Pieces of the message that is coming, put together once it has come: it may come byte by byte.
  let pieces: string[] = [];
  let chars = 0;
  let lastChar = '';
  try {
    for (;;) {
      const { done, value } = await readWithTimeout(connection, reader.read());
      if (done) return;
      const piece = decoder.decode(value, { stream: true });
      pieces.push(piece);
      chars += piece.length;
      const hasEnd = `${lastChar}${piece}`.includes('\n\n');
      lastChar = piece.at(-1) ?? lastChar;
      if (hasEnd) {
        const text = pieces.join('');
        const completeLength = text.lastIndexOf('\n\n') + 2;
        const rest = text.slice(completeLength);
        pieces = [rest];
        chars = rest.length;
        yield* text
          .slice(0, completeLength - 2)
          .split('\n\n')
          .map(parseMessage);
      }
      if (chars > MESSAGE_MAX_CHARS) {
        throw new ConnectionError(`An event of more than ${MESSAGE_MAX_CHARS} characters came: it is none.`);
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** The parser says nothing of a message without data, but that one has a place, too: up to there everything was seen. */
function parseMessage(block: string): Message {
  let data: string | undefined;
  let retryMs: number | undefined;
  const parser = createParser({
    onEvent: (event) => {
      data = event.data;
    },
    onRetry: (ms) => {
      retryMs = ms;
    },
  });
  parser.feed(`${block}\n\n`);
  return { id: /^id: ?(.*)$/m.exec(block)?.[1], data, retryMs };
}

/** Only waiting counts as silence: how long the caller takes over an event is his affair. */
async function readWithTimeout<T>(connection: AttemptSignal, promise: Promise<T>): Promise<T> {
  try {
    return await connection.withTimeout(SILENCE_TIMEOUT_MS, promise);
  } catch (cause) {
    throw new StreamBrokenError('', { cause });
  }
}
