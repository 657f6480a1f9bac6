/** Fetches a feed: GET, no redirects, bounded size. The caller bounds the time. */

import { FeedError } from '../../ports/rates.ts';
import { BodyTooLargeError, readBoundedBody } from '../read-bounded.ts';
import { toSendFault } from '../webhooks/send-faults.ts';

export interface FeedRequest {
  readonly signal: AbortSignal;
  readonly maxBytes: number;
  readonly accept: string;
}

/** Returns the response text. Throws FeedError, whose message contains no address. */
export async function fetchFeed(url: string, { signal, maxBytes, accept }: FeedRequest): Promise<string> {
  try {
    // A redirect could lead to a source that the operator did not choose.
    const response = await fetch(url, { headers: { accept }, redirect: 'manual', signal });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw new FeedError(`responded with HTTP ${response.status}`);
    }
    return await readBoundedBody(response, maxBytes);
  } catch (error) {
    throw error instanceof FeedError ? error : new FeedError(describeFailure(error));
  }
}

function describeFailure(error: unknown): string {
  if (error instanceof BodyTooLargeError) return 'response is too large';
  const { name, cause } = error as Error;
  if (name === 'TimeoutError') return 'request timed out';
  if (name === 'AbortError') return 'request was canceled';
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'host name could not be resolved';
  const fault = cause instanceof Error ? toSendFault(cause) : 'failed';
  return fault === 'failed' ? 'connection failed' : fault;
}
