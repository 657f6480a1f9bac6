/** The links to the inventory's backends. They follow the inventory while the service runs. */
import type { Logger } from '../../../kernel/logger.ts';
import { SECOND_MS } from '../../../kernel/time.ts';
import type { Backend, BackendDirectory } from '../../../ports/backends.ts';
import { type BackendDriver, BackendLink } from './link.ts';

/** No call uses an older list. */
const LIST_MAX_AGE_MS = 2 * SECOND_MS;

export interface RegistryOptions {
  readonly directory: Pick<BackendDirectory, 'list'>;
  /** Opens the driver of a backend. It connects when it is first called. */
  open(backend: Backend): BackendDriver;
  readonly log: Logger;
}

export class BackendRegistry {
  readonly #options: RegistryOptions;
  readonly #links = new Map<string, BackendLink>();
  #isLocalOnly = true;
  #listedAt = Number.NEGATIVE_INFINITY;
  #listing: Promise<void> | null = null;
  /** While there are links: a revoked backend's connections end also in a process that makes no calls. */
  #timer: NodeJS.Timeout | null = null;

  constructor(options: RegistryOptions) {
    this.#options = options;
  }

  /** Returns the links by name. Throws if the inventory was never readable. */
  async links(): Promise<ReadonlyMap<string, BackendLink>> {
    if (performance.now() - this.#listedAt >= LIST_MAX_AGE_MS) await this.refresh();
    return this.#links;
  }

  /** Whether there are no backends. A backend that is not in use still has its machines. */
  async isLocalOnly(): Promise<boolean> {
    await this.links();
    return this.#isLocalOnly;
  }

  linkTo(name: string): BackendLink | undefined {
    return this.#links.get(name);
  }

  /** Reads the inventory now. Concurrent calls share one read. */
  async refresh(): Promise<void> {
    this.#listing ??= this.#list().finally(() => {
      this.#listing = null;
    });
    await this.#listing;
  }

  close(): void {
    this.#watch(false);
    for (const { driver } of this.#links.values()) driver.close();
    this.#links.clear();
  }

  async #list(): Promise<void> {
    const backends = await this.#options.directory.list().catch((error: unknown) => {
      // Known backends stay usable while the database does not answer.
      if (this.#listedAt === Number.NEGATIVE_INFINITY) throw error;
      return null;
    });
    this.#listedAt = performance.now();
    if (backends === null) return;
    this.#isLocalOnly = backends.length === 0;
    const used = backends.filter(({ inUse }) => inUse);
    const current = new Map(used.map((backend) => [backend.name, backend]));
    for (const [name, link] of this.#links) {
      if (isSameBackend(link.backend, current.get(name))) continue;
      link.driver.close();
      this.#links.delete(name);
    }
    for (const backend of used) {
      if (this.#links.has(backend.name)) continue;
      const { open, log } = this.#options;
      this.#links.set(backend.name, new BackendLink(backend, open(backend), log));
    }
    this.#watch(this.#links.size > 0);
  }

  #watch(isOn: boolean): void {
    if (isOn === (this.#timer !== null)) return;
    if (this.#timer !== null) clearInterval(this.#timer);
    // The next call reports what fails here.
    const refresh = () => void this.refresh().catch(() => undefined);
    this.#timer = isOn ? setInterval(refresh, LIST_MAX_AGE_MS).unref() : null;
  }
}

function isSameBackend(one: Backend, other: Backend | undefined): boolean {
  if (one.kind !== other?.kind || one.address !== other.address || one.identity !== other.identity)
    return false;
  // A renewal ends no connection.
  return one.isIssued ? other.isIssued : !other.isIssued && one.fingerprint === other.fingerprint;
}
