/** How much work there is. Write another one for your own queue: anything that can count. */

export interface JobQueue {
  /** Jobs that wait or run right now. */
  length(): Promise<number>;
}

const TIMEOUT_MS = 10_000;

/**
 * Asks URLs and adds their numbers up. The number is the header `X-Total` (GitLab), the member `total_count` (Forgejo, Gitea,
 * GitHub), or the whole answer.
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
    // A redirect would take the token in the headers elsewhere.
    const options = { headers: this.#headers, redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) };
    const response = await fetch(url, options as RequestInit);
    // Only the address without its query: a token may stand in there.
    const { origin, pathname } = new URL(url);
    if (!response.ok) throw new Error(`the queue ${origin}${pathname} answers ${response.status}`);
    const total = response.headers.get('x-total');
    const body: unknown = total === null ? await response.json() : Number(total);
    const number = typeof body === 'number' ? body : (body as { total_count?: unknown } | null)?.total_count;
    if (!Number.isSafeInteger(number) || Number(number) < 0) {
      throw new Error(`the queue ${origin}${pathname} gives no number`);
    }
    return Number(number);
  }
}
