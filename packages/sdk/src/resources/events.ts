import { AttemptSignal } from '../attempt-signal.ts';
import { ApiError, ConnectionError, mayPass, SkerryError, TimeoutError } from '../errors.ts';
import { readMessages, SILENCE_TIMEOUT_MS, StreamBrokenError } from '../event-stream.ts';
import { describeFailure } from '../request-failure.ts';
import { sleep } from '../sleep.ts';
import type { Event } from '../types.ts';
import { Resource } from './resource.ts';

export interface StreamOptions {
  readonly signal?: AbortSignal;
  /**
   * Only what came after the event with this `seq`; left out: what comes from now on. 0 is all there was, which the service refuses
   * once it has removed old events: the refusal's `item('after')?.min` is the earliest place from which it goes on.
   */
  readonly after?: number;
  /** Called when the service has taken the connection: what happens from now on is not missed. */
  readonly onOpen?: () => void;
  /** Called when the connection broke, or was not had again: it is tried anew after a pause. */
  readonly onBreak?: (error: SkerryError) => void;
}

/** An event of the stream has its number in the account, without gaps: the place to go on from. */
export type StreamedEvent = Event & { readonly seq: number };

/** Unless the service says otherwise. */
const RECONNECT_MS = 3_000;
/** Too many streams at once: once it was open, they pass by themselves, as too many calls and faults do. */
const TOO_MANY_STREAMS = 409;

interface OpenStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly connection: AttemptSignal;
}

/** Where to begin: what the caller named, then what the stream itself said last. */
interface StreamPosition {
  readonly after: number | undefined;
  lastEventId: string | undefined;
}

/** What happens in the account, as it happens (beta). */
export class Events extends Resource {
  /**
   * Every event, for ever, until `signal` aborts or the loop is left. The first connection fails as any call does, after the usual
   * tries. Once it was open, one that breaks is taken up where it broke, for as long as that takes; then it fails only when the
   * service refuses: the token is over, or the place is no longer kept.
   */
  async *stream({ signal, after, onOpen, onBreak }: StreamOptions = {}): AsyncGenerator<StreamedEvent, void> {
    const place: StreamPosition = { after, lastEventId: undefined };
    let reconnectMs = RECONNECT_MS;
    signal?.throwIfAborted();
    let opened = await this.transport.withRetries(() => this.#open(place, signal), signal ? { signal } : {});
    if (opened instanceof SkerryError) throw opened;
    for (;;) {
      let failure: SkerryError = new ConnectionError('The service ended the stream of events.');
      if (opened instanceof SkerryError) failure = opened;
      else {
        const { body, connection } = opened;
        try {
          onOpen?.();
          for await (const { id, data, retryMs } of readMessages(body, connection)) {
            if (data !== undefined) yield parseEvent(data);
            // Only now: whoever comes again gets once more what was not handled.
            place.lastEventId = id ?? place.lastEventId;
            reconnectMs = retryMs ?? reconnectMs;
          }
        } catch (error) {
          signal?.throwIfAborted();
          if (!(error instanceof StreamBrokenError)) throw error;
          failure = new ConnectionError('The stream of events broke.', { cause: error.cause });
        } finally {
          connection.dispose();
        }
      }
      if (failure instanceof ApiError && failure.status !== TOO_MANY_STREAMS && !mayPass(failure))
        throw failure;
      signal?.throwIfAborted();
      onBreak?.(failure);
      await sleep(reconnectMs, signal);
      opened = await this.#open(place, signal);
    }
  }

  /** One attempt. Aborted by the caller, it throws his reason. */
  async #open(position: StreamPosition, signal: AbortSignal | undefined): Promise<OpenStream | SkerryError> {
    const connection = new AttemptSignal(signal);
    const result = await this.#connect(position, connection).catch((cause: unknown) => {
      if (connection.timedOut)
        return new TimeoutError(`No answer came within ${SILENCE_TIMEOUT_MS} ms.`, { cause });
      return new ConnectionError(`${this.transport.baseUrl} ${describeFailure(cause)}.`, { cause });
    });
    if (!(result instanceof SkerryError)) return { body: result, connection };
    connection.dispose();
    signal?.throwIfAborted();
    return result;
  }

  async #connect(
    place: StreamPosition,
    connection: AttemptSignal,
  ): Promise<ReadableStream<Uint8Array> | SkerryError> {
    const { baseUrl, token } = this.transport;
    const { after, lastEventId } = place;
    // By what the caller knows it by, so that a refusal names that.
    const query = lastEventId === undefined && after !== undefined ? `?after=${after}` : '';
    const request = new Request(`${baseUrl}/events${query}`, {
      headers: {
        authorization: `Bearer ${token}`,
        'x-service-beta': 'true',
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      },
      redirect: 'error',
      signal: connection.signal,
    });
    connection.request = request;
    const response = await connection.withTimeout(SILENCE_TIMEOUT_MS, this.transport.fetch(request));
    if (!response.ok) {
      const text = await connection.withTimeout(SILENCE_TIMEOUT_MS, response.text());
      return new ApiError(response, parseJson(text));
    }
    const type = response.headers.get('content-type') ?? '';
    if (response.body && type.startsWith('text/event-stream')) return response.body;
    return new ConnectionError(`${baseUrl} answered with something else than a stream of events.`);
  }
}

function parseEvent(data: string): StreamedEvent {
  const event = parseJson(data);
  if (event === null) throw new ConnectionError('An event that is not JSON came.');
  return event as StreamedEvent;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
