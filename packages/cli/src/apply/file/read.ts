/** Files into what they say, or into everything that is wrong with them. Pure: files that they name come through `readBeside`. */
import type { Desired, DesiredGroup, DesiredKey, DesiredServer, DesiredVolume, Placed } from '../desired.ts';
import type { Fault } from '../faults.ts';
import { checkReferences } from './check.ts';
import { ITEMS, ITEMS_MAX, project } from './fields.ts';
import { type Make, toGroup, toKey, toServer, toVolume } from './make.ts';
import { type Parsed, parseFile } from './parse.ts';
import { isMap, listOf, optional, type Path, type Reader, record } from './reader.ts';

export interface Source {
  /** What it is called in what is said: the path that was given, or `-`. */
  readonly name: string;
  readonly content: string;
  /** Reads a file whose path is relative to this one; a text that begins the sentence where it cannot. */
  readonly readBeside: (path: string) => { readonly bytes: Uint8Array } | { readonly fault: string };
}

type Kind = keyof typeof ITEMS;
const KINDS = Object.keys(ITEMS) as Kind[];

interface Item {
  readonly value: unknown;
  readonly path: Path;
  readonly parsed: Parsed;
  readonly source: Source;
}

const anything: Reader<unknown> = (value) => value ?? null;
const someItems = listOf(anything, { max: ITEMS_MAX });
const TOP = record({
  project: optional(project),
  ssh_keys: optional(someItems),
  servers: optional(someItems),
  volumes: optional(someItems),
  firewall_groups: optional(someItems),
});

/** Several are read as one: their lists are joined, and their project is the same. */
export function readFiles(sources: readonly Source[]): { desired: Desired | null; faults: readonly Fault[] } {
  const faults: Fault[] = [];
  const tell = (place: string, message: string) => faults.push({ place, message, exit: 'usage' });
  const items: Record<Kind, Item[]> = { ssh_keys: [], servers: [], volumes: [], firewall_groups: [] };
  const projects: { readonly name: string; readonly place: string }[] = [];
  let serversGiven = false;
  for (const source of sources) {
    const { parsed: documents, faults: bad } = parseFile(source.name, source.content);
    for (const { place, message } of bad) tell(place, message);
    for (const parsed of documents) {
      const say = (path: Path, message: string) => tell(placeOf(parsed, path), message);
      TOP(parsed.value, [], say);
      if (!isMap(parsed.value)) continue;
      const { value } = parsed;
      if (typeof value.project === 'string') {
        projects.push({ name: value.project, place: placeOf(parsed, ['project']) });
      }
      serversGiven ||= Array.isArray(value.servers);
      for (const kind of KINDS) {
        const list = value[kind];
        if (!Array.isArray(list) || list.length > ITEMS_MAX) continue;
        list.forEach((item: unknown, at) => {
          items[kind].push({ value: item, path: [kind, at], parsed, source });
        });
      }
    }
  }
  const [first] = projects;
  const name = sources.map((source) => source.name).join(', ');
  if (first === undefined && faults.length === 0) tell(name, 'project: is missing');
  for (const other of projects.filter((one) => one.name !== first?.name)) {
    tell(other.place, `is not "${first?.name}", as it is before: one run is for one project`);
  }
  for (const kind of KINDS) tellDuplicates(items[kind], tell);
  const desired = {
    project: first?.name ?? '',
    sshKeys: readAll<'ssh_keys', DesiredKey>('ssh_keys', items.ssh_keys, toKey, tell),
    servers: serversGiven
      ? readAll<'servers', DesiredServer>('servers', items.servers, toServer, tell)
      : undefined,
    volumes: readAll<'volumes', DesiredVolume>('volumes', items.volumes, toVolume, tell),
    groups: readAll<'firewall_groups', DesiredGroup>('firewall_groups', items.firewall_groups, toGroup, tell),
  };
  const servers = items.servers.flatMap(({ value }) => nameOf(value) ?? []);
  faults.push(...checkReferences(desired, new Set(servers)));
  return { desired: faults.length === 0 ? desired : null, faults };
}

/** `skerry.yaml:12: servers[1].plan` */
function placeOf(parsed: Parsed, path: Path): string {
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return steps === '' ? parsed.lineOf(path) : `${parsed.lineOf(path)}: ${steps.replace(/^\./, '')}`;
}

type ReadOf<K extends Kind> = Exclude<ReturnType<(typeof ITEMS)[K]>, undefined>;

function readAll<K extends Kind, T>(
  kind: K,
  items: readonly Item[],
  make: Make<ReadOf<K>, T>,
  tell: (place: string, message: string) => void,
): Placed<T>[] {
  const read = ITEMS[kind] as Reader<ReadOf<K>>;
  return items.flatMap(({ value, path, parsed, source }) => {
    const say = (where: Path, message: string) => tell(placeOf(parsed, where), message);
    const found = read(value, path, say);
    if (found === undefined) return [];
    const made = make(found, (field, message) => say([...path, ...field], message), source.readBeside);
    return made === undefined ? [] : [{ ...made, place: placeOf(parsed, path) }];
  });
}

function tellDuplicates(items: readonly Item[], tell: (place: string, message: string) => void): void {
  const seen = new Map<string, string>();
  for (const { value, path, parsed } of items) {
    const name = nameOf(value);
    if (name === undefined) continue;
    const before = seen.get(name);
    const place = placeOf(parsed, [...path, 'name']);
    if (before === undefined) seen.set(name, place);
    else tell(place, `"${name}" is there already, at ${before}`);
  }
}

function nameOf(value: unknown): string | undefined {
  return isMap(value) && typeof value.name === 'string' ? value.name.normalize('NFC') : undefined;
}
