/**
 * Questions about many machines: each backend is asked about its own, side by side. A backend that is away
 * delays none of the others, and nothing is concluded from its silence. An answer counts only for machines
 * that the backend has: a host cannot speak for another one's.
 */
import type { Logger } from '../../../kernel/logger.ts';
import { SECOND_MS } from '../../../kernel/time.ts';
import { type BackendDirectory, LOCAL_BACKEND } from '../../../ports/backends.ts';
import type {
  ComputeDriver,
  HourSample,
  MachineState,
  MinuteSample,
  SupervisionResult,
} from '../../../ports/compute.ts';
import type { PacketSample } from '../../../ports/network.ts';
import type { BackendLink } from './link.ts';
import type { BackendRegistry } from './registry.ts';

/** How long a backend may take before the others' answers are used without its own. */
const PATIENCE_MS = {
  observe: 1.2 * SECOND_MS,
  list: 5 * SECOND_MS,
  sample: 10 * SECOND_MS,
  supervise: 20 * SECOND_MS,
};
/** Machines remembered of one backend. */
const LISTED_MAX = 10_000;

export interface GatherParts {
  readonly local: ComputeDriver;
  readonly directory: BackendDirectory;
  readonly registry: BackendRegistry;
  readonly log: Logger;
}

export class Gather {
  readonly #parts: GatherParts;

  constructor(parts: GatherParts) {
    this.#parts = parts;
  }

  async observe(ids: readonly string[]): Promise<MachineState[]> {
    const { local, registry } = this.#parts;
    const links = await registry.links();
    if (await registry.isLocalOnly()) return await local.observe(ids);
    const groups = await this.#groupByPlace(ids);
    const seen = new Map<string, MachineState>();
    await Promise.all(
      [...groups].map(async ([place, own]) => {
        const states = await askPlace(this.#parts, links.get(place), place, PATIENCE_MS.observe, (driver) =>
          driver.observe([...own]),
        );
        for (const state of states ?? []) if (own.has(state.id)) seen.set(state.id, state);
      }),
    );
    return ids.map((id) => seen.get(id) ?? unknownState(id));
  }

  async sample(ids: readonly string[], since: Date): Promise<HourSample[]> {
    return await this.#sampleAll(ids, (driver, own) => driver.sample(own, since));
  }

  async sampleMinutes(ids: readonly string[], since: Date): Promise<MinuteSample[]> {
    return await this.#sampleAll(ids, (driver, own) => driver.sampleMinutes(own, since));
  }

  async samplePackets(ids: readonly string[]): Promise<PacketSample[]> {
    return await this.#sampleAll(ids, (driver, own) => driver.samplePackets(own));
  }

  async #sampleAll<Sample extends { readonly id: string }>(
    ids: readonly string[],
    read: (driver: ComputeDriver, own: readonly string[]) => Promise<Sample[]>,
  ): Promise<Sample[]> {
    const { local, registry } = this.#parts;
    const links = await registry.links();
    if (await registry.isLocalOnly()) return await read(local, ids);
    const groups = await this.#groupByPlace(ids);
    const samples = await Promise.all(
      [...groups].map(async ([place, own]) => {
        const found = await askPlace(this.#parts, links.get(place), place, PATIENCE_MS.sample, (driver) =>
          read(driver, [...own]),
        );
        return (found ?? []).filter(({ id }) => own.has(id));
      }),
    );
    return samples.flat();
  }

  async list(): Promise<string[]> {
    const { local, registry } = this.#parts;
    const links = [...(await registry.links()).values()];
    const [own, ...others] = await Promise.all([local.list(), ...links.map((link) => this.#listOf(link))]);
    return links.length === 0 ? own : [...new Set([...own, ...others.flat()])];
  }

  async superviseMachines(blocks?: readonly string[]): Promise<SupervisionResult[]> {
    const { local, registry } = this.#parts;
    const links = [...(await registry.links()).values()];
    const [own, ...others] = await Promise.all([
      local.superviseMachines(blocks),
      ...links.map((link) => this.#superviseOf(link, blocks)),
    ]);
    return [...own, ...others.flat()];
  }

  async #listOf(link: BackendLink): Promise<readonly string[]> {
    const ids = await link.ask((driver) => driver.list(), PATIENCE_MS.list);
    if (ids === null) return link.last.listed;
    const { directory } = this.#parts;
    const places = await directory.find('machine', ids);
    const unplaced = ids.filter((id) => !places.has(id));
    if (unplaced.length > 0) await directory.adopt(link.name, unplaced);
    link.last.listed = this.#ownedBy(link, ids, places).slice(0, LISTED_MAX);
    return link.last.listed;
  }

  async #superviseOf(link: BackendLink, blocks?: readonly string[]): Promise<readonly SupervisionResult[]> {
    const results = await link.ask((driver) => driver.superviseMachines(blocks), PATIENCE_MS.supervise);
    if (results === null) return link.last.failing;
    const ids = results.map(({ id }) => id);
    const places = ids.length === 0 ? new Map() : await this.#parts.directory.find('machine', ids);
    const own = new Set(this.#ownedBy(link, ids, places));
    const valid = results.filter(({ id }) => own.has(id) && places.has(id));
    link.last.failing = valid.filter(({ outcome }) => outcome === 'failed').slice(0, LISTED_MAX);
    return valid;
  }

  /** Leaves out machines of other backends. Those without an entry are unknown to the inventory. */
  #ownedBy(link: BackendLink, ids: readonly string[], places: ReadonlyMap<string, string>): string[] {
    const own = ids.filter((id) => (places.get(id) ?? link.name) === link.name);
    const foreign = ids.length - own.length;
    if (foreign > 0) {
      const fields = { backend: link.name, machines: foreign };
      this.#parts.log.error(fields, 'backend reports machines that another backend has; ignoring them');
    }
    return own;
  }

  async #groupByPlace(ids: readonly string[]): Promise<Map<string, Set<string>>> {
    const places = await this.#parts.directory.find('machine', ids);
    const groups = new Map<string, Set<string>>();
    for (const id of ids) {
      const place = places.get(id) ?? LOCAL_BACKEND;
      const group = groups.get(place) ?? new Set();
      groups.set(place, group.add(id));
    }
    return groups;
  }
}

/** Asks one backend; null if it is away or no longer listed. The local driver's errors are the caller's. */
async function askPlace<T>(
  { local }: Pick<GatherParts, 'local'>,
  link: BackendLink | undefined,
  place: string,
  patienceMs: number,
  call: (driver: ComputeDriver) => Promise<T>,
): Promise<T | null> {
  if (place === LOCAL_BACKEND) return await call(local);
  return (await link?.ask(call, patienceMs)) ?? null;
}

function unknownState(id: string): MachineState {
  return { id, host: null, state: 'unknown', generation: null, rescue: false };
}
