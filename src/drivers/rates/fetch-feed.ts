/** How a feed is asked: GET, no redirects, a bound on size, and whoever calls bounds the time. */
import { BodyTooLargeError, readBoundedBody } from '../../kernel/read-bounded.ts';
import { FeedError } from '../../ports/rates.ts';
import { toSendFault } from '../webhooks/send-faults.ts';

export interface FeedRequest {
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  readonly accept: string;
}

/** The answer's text. Throws FeedError, whose words name no address. */
export async function fetchFeed(url: string, { signal, maxBytes, accept }: FeedRequest): Promise<string> {
  try {
    // A redirect would lead where nobody said that prices come from.
    const response = await fetch(url, { headers: { accept }, redirect: 'manual', signal });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new FeedError(`it answers ${response.status}`);
    }
    return await readBoundedBody(response, maxBytes);
  } catch (error) {
    throw error instanceof FeedError ? error : new FeedError(describeFailure(error));
  }
}

function describeFailure(error: unknown): string {
  if (error instanceof BodyTooLargeError) return 'its answer is too long';
  const { name, cause } = error as Error;
  if (name === 'TimeoutError') return 'it is too slow';
  if (name === 'AbortError') return 'it was asked no longer';
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'its name could not be resolved';
  const fault = cause instanceof Error ? toSendFault(cause) : 'failed';
  return fault === 'failed' ? 'no connection' : fault;
}
