/**
 * Parses files into the desired state, or into all of their problems. Pure: `readRelative` reads other files.
 */
import type {
  Desired,
  DesiredAlert,
  DesiredGroup,
  DesiredKey,
  DesiredServer,
  DesiredVolume,
  Placed,
} from '../desired.ts';
import type { Fault } from '../faults.ts';
import { ITEM_READERS, ITEMS_MAX, projectName } from './fields.ts';
import { type Parsed, parseFile } from './parse.ts';
import { isMap, listOf, optional, type Path, type Reader, record } from './reader.ts';
import { checkReferences, withServers } from './references.ts';
import { type Converter, toAlert, toGroup, toKey, toServer, toVolume } from './to-desired.ts';

export interface Source {
  /** The name in error messages: the given path, or `stdin`. */
  readonly name: string;
  readonly content: string;
  /** Reads a file whose path is relative to this one, or returns the predicate of an error message. */
  readonly readRelative: (path: string) => { readonly bytes: Uint8Array } | { readonly fault: string };
}

type Section = keyof typeof ITEM_READERS;
const SECTIONS = Object.keys(ITEM_READERS) as Section[];

interface RawItem {
  readonly value: unknown;
  readonly path: Path;
  readonly parsed: Parsed;
  readonly source: Source;
}

const anyValue: Reader<unknown> = (value) => value ?? null;
const rawItems = listOf(anyValue, { max: ITEMS_MAX });
const DOCUMENT = record({
  project: optional(projectName),
  ssh_keys: optional(rawItems),
  servers: optional(rawItems),
  volumes: optional(rawItems),
  firewall_groups: optional(rawItems),
  alerts: optional(rawItems),
});

/** Reads several files as one: joins their lists; their project must be the same. */
export function readFiles(sources: readonly Source[]): { desired: Desired | null; faults: readonly Fault[] } {
  const faults: Fault[] = [];
  const report = (place: string, message: string) => faults.push({ place, message, exit: 'usage' });
  const items: Record<Section, RawItem[]> = {
    ...{ ssh_keys: [], servers: [], volumes: [], firewall_groups: [], alerts: [] },
  };
  const projects: { readonly name: string; readonly place: string }[] = [];
  let serversGiven = false;
  for (const source of sources) {
    const { parsed: documents, faults: bad } = parseFile(source.name, source.content);
    for (const { place, message } of bad) report(place, message);
    for (const parsed of documents) {
      const reportAt = (path: Path, message: string) => report(formatPlace(parsed, path), message);
      DOCUMENT(parsed.value, [], reportAt);
      if (!isMap(parsed.value)) continue;
      const { value } = parsed;
      if (typeof value.project === 'string') {
        projects.push({ name: value.project, place: formatPlace(parsed, ['project']) });
      }
      serversGiven ||= Array.isArray(value.servers);
      for (const kind of SECTIONS) {
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
  if (first === undefined && faults.length === 0) report(name, 'project: is required');
  for (const other of projects.filter((one) => one.name !== first?.name)) {
    report(other.place, `is not "${first?.name}" as before; use one project per run`);
  }
  for (const kind of SECTIONS) reportDuplicates(items[kind], report);
  const read = {
    project: first?.name ?? '',
    sshKeys: readAll<'ssh_keys', DesiredKey>('ssh_keys', items.ssh_keys, toKey, report),
    servers: serversGiven
      ? readAll<'servers', DesiredServer>('servers', items.servers, toServer, report)
      : undefined,
    volumes: readAll<'volumes', DesiredVolume>('volumes', items.volumes, toVolume, report),
    groups: readAll<'firewall_groups', DesiredGroup>(
      'firewall_groups',
      items.firewall_groups,
      toGroup,
      report,
    ),
    alerts: readAll<'alerts', DesiredAlert>('alerts', items.alerts, toAlert, report),
  };
  const servers = items.servers.flatMap(({ value }) => nameOf(value) ?? []);
  const { desired, faults: conflicts } = withServers(read);
  faults.push(...conflicts, ...checkReferences(desired, new Set(servers)));
  return { desired: faults.length === 0 ? desired : null, faults };
}

/** `skerry.yaml:12: servers[1].plan` */
function formatPlace(parsed: Parsed, path: Path): string {
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return steps === '' ? parsed.locate(path) : `${parsed.locate(path)}: ${steps.replace(/^\./, '')}`;
}

type ReadOf<K extends Section> = Exclude<ReturnType<(typeof ITEM_READERS)[K]>, undefined>;

function readAll<K extends Section, T>(
  kind: K,
  items: readonly RawItem[],
  convert: Converter<ReadOf<K>, T>,
  report: (place: string, message: string) => void,
): Placed<T>[] {
  const read = ITEM_READERS[kind] as Reader<ReadOf<K>>;
  return items.flatMap(({ value, path, parsed, source }) => {
    const reportAt = (where: Path, message: string) => report(formatPlace(parsed, where), message);
    const found = read(value, path, reportAt);
    if (found === undefined) return [];
    const made = convert(
      found,
      (field, message) => reportAt([...path, ...field], message),
      source.readRelative,
    );
    return made === undefined ? [] : [{ ...made, place: formatPlace(parsed, path) }];
  });
}

function reportDuplicates(items: readonly RawItem[], report: (place: string, message: string) => void): void {
  const seen = new Map<string, string>();
  for (const { value, path, parsed } of items) {
    const name = nameOf(value);
    if (name === undefined) continue;
    const before = seen.get(name);
    const place = formatPlace(parsed, [...path, 'name']);
    if (before === undefined) seen.set(name, place);
    else report(place, `"${name}" already exists at ${before}`);
  }
}

function nameOf(value: unknown): string | undefined {
  return isMap(value) && typeof value.name === 'string' ? value.name.normalize('NFC') : undefined;
}
