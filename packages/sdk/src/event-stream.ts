/** Parses server-sent events, as far as the service uses them, from chunks of the response. */
import { createParser } from 'eventsource-parser';
import type { AttemptSignal } from './abort.ts';
import { ConnectionError } from './errors.ts';

/** The service sends something every 15 seconds: a connection that is silent for this long is dead. */
export const SILENCE_TIMEOUT_MS = 45_000;
/** Events are much smaller; anything larger is not an event stream. */
const MESSAGE_MAX_CHARS = 4 * 1024 * 1024;

/** The connection broke while it was read. */
export class StreamBrokenError extends Error {}

/** The text between two blank lines. */
export interface Message {
  readonly id: string | undefined;
  readonly data: string | undefined;
  readonly retryMs: number | undefined;
}

/** Yields messages as they arrive. Throws a StreamBrokenError unless the service itself ends the stream. */
export async function* readMessages(
  body: ReadableStream<Uint8Array>,
  connection: AttemptSignal,
): AsyncGenerator<Message, void> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  // Collect chunks and join them once per message: a message may arrive byte by byte.
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
        throw new ConnectionError(`Received an event of more than ${MESSAGE_MAX_CHARS} characters.`);
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/**
 * The parser ignores a message without data, but its ID is a position too: everything before it was received.
 */
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

/** Only waiting counts as silence: the caller may take any time to handle an event. */
async function readWithTimeout<T>(connection: AttemptSignal, promise: Promise<T>): Promise<T> {
  try {
    return await connection.withTimeout(SILENCE_TIMEOUT_MS, promise);
  } catch (cause) {
    throw new StreamBrokenError('', { cause });
  }
}
