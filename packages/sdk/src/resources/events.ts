import { AttemptSignal, sleep } from '../abort.ts';
import { ApiError, ConnectionError, describeFailure, mayPass, SkerryError, TimeoutError } from '../errors.ts';
import { readMessages, SILENCE_TIMEOUT_MS, StreamBrokenError } from '../event-stream.ts';
import type { Event, EventType } from '../types.ts';
import { Resource } from './resource.ts';

export interface StreamOptions {
  readonly signal?: AbortSignal;
  /**
   * Start after the event with this `seq`; if omitted, only new events. 0 means all events, which the service
   * refuses once it has removed old ones: `item('after')?.min` of the error is the earliest possible
   * position.
   */
  readonly after?: number;
  /** Only these types; `*` for all. If omitted, all but `action.*`. */
  readonly types?: readonly (EventType | '*')[];
  /** Called when the stream is open: no event from now on is missed. */
  readonly onOpen?: () => void;
  /** Called when the connection broke or could not be restored; another attempt follows after a pause. */
  readonly onBreak?: (error: SkerryError) => void;
}

/** An event with its number in the account. The numbers have no gaps and serve as stream positions. */
export type StreamedEvent = Event & { readonly seq: number };

/** Default delay; the service may set another one. */
const RECONNECT_MS = 3_000;
/** Too many concurrent streams. After the stream was open once, this is temporary, like a rate limit. */
const TOO_MANY_STREAMS = 409;

interface OpenStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly connection: AttemptSignal;
}

/** The position to start from: the caller's at first, then the latest ID in the stream. */
interface StreamPosition {
  readonly after: number | undefined;
  readonly types: readonly string[] | undefined;
  lastEventId: string | undefined;
}

/** The live events of the account (beta). */
export class Events extends Resource {
  /**
   * Yields every event until `signal` aborts or the loop ends. The first connection fails like any other
   * call, after the usual retries. Later interruptions reconnect at the same position for as long as
   * necessary; the stream then throws only if the service refuses it: the token is invalid, or the position
   * is no longer stored.
   */
  async *stream({
    signal,
    after,
    types,
    onOpen,
    onBreak,
  }: StreamOptions = {}): AsyncGenerator<StreamedEvent, void> {
    const place: StreamPosition = { after, types, lastEventId: undefined };
    let reconnectMs = RECONNECT_MS;
    signal?.throwIfAborted();
    let opened = await this.transport.withRetries(() => this.#open(place, signal), signal ? { signal } : {});
    if (opened instanceof SkerryError) throw opened;
    for (;;) {
      let failure: SkerryError = new ConnectionError('The service ended the event stream.');
      if (opened instanceof SkerryError) failure = opened;
      else {
        const { body, connection } = opened;
        try {
          onOpen?.();
          for await (const { id, data, retryMs } of readMessages(body, connection)) {
            if (data !== undefined) yield parseEvent(data);
            // After the yield: an event that was not handled is sent again on the next connection.
            place.lastEventId = id ?? place.lastEventId;
            reconnectMs = retryMs ?? reconnectMs;
          }
        } catch (error) {
          signal?.throwIfAborted();
          if (!(error instanceof StreamBrokenError)) throw error;
          failure = new ConnectionError('The event stream broke.', { cause: error.cause });
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

  /** Makes one attempt. Throws the caller's reason if they aborted. */
  async #open(position: StreamPosition, signal: AbortSignal | undefined): Promise<OpenStream | SkerryError> {
    const connection = new AttemptSignal(signal);
    const result = await this.#connect(position, connection).catch((cause: unknown) => {
      if (connection.timedOut)
        return new TimeoutError(`No response within ${SILENCE_TIMEOUT_MS} ms.`, { cause });
      return new ConnectionError(describeFailure(this.transport.host, cause), { cause });
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
    const { baseUrl, host, token } = this.transport;
    const { after, types, lastEventId } = place;
    // Use the caller's own parameter first, so that a refusal names it.
    const first = lastEventId === undefined && after !== undefined ? [`after=${after}`] : [];
    const parameters = [...first, ...(types ? [`types=${types.join(',')}`] : [])];
    const query = parameters.length > 0 ? `?${parameters.join('&')}` : '';
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
    return new ConnectionError(`The response of ${host} is not an event stream.`);
  }
}

function parseEvent(data: string): StreamedEvent {
  const event = parseJson(data);
  if (event === null) throw new ConnectionError('Received an event that is not JSON.');
  return event as StreamedEvent;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
