/** The size of the job queue. Implement `JobQueue` for a queue of your own. */

export interface JobQueue {
  /** Returns the number of waiting and running jobs. */
  length(): Promise<number>;
}

const TIMEOUT_MS = 10_000;

/**
 * Fetches URLs and adds up their numbers. A number is the header `X-Total` (GitLab), the member `total_count`
 * (Forgejo, Gitea, GitHub), or the whole response.
 */
export class HttpQueue implements JobQueue {
  readonly #urls: readonly string[];
  readonly #headers: Readonly<Record<string, string>>;

  constructor(urls: readonly string[], headers: Readonly<Record<string, string>> = {}) {
    this.#urls = urls;
    this.#headers = headers;
  }

  async length(): Promise<number> {
    const numbers = await Promise.all(this.#urls.map((url) => this.#fetchCount(url)));
    return numbers.reduce((sum, number) => sum + number, 0);
  }

  async #fetchCount(url: string): Promise<number> {
    // A redirect would send the token in the headers to another server.
    const options = { headers: this.#headers, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) };
    const response = await fetch(url, options as RequestInit);
    // Leave the query out of messages: it may contain a token.
    const { origin, pathname } = new URL(url);
    if (!response.ok) throw new Error(`queue ${origin}${pathname} returned ${response.status}`);
    const total = response.headers.get('x-total');
    const body: unknown = total === null ? await response.json() : Number(total);
    const number = typeof body === 'number' ? body : (body as { total_count?: unknown } | null)?.total_count;
    if (!Number.isSafeInteger(number) || Number(number) < 0) {
      throw new Error(`queue ${origin}${pathname} returned no number`);
    }
    return Number(number);
  }
}
