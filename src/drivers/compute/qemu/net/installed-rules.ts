/** What stands in the tables `skerry`, asked once for all machines, and whether it is what should. */
import type { QemuHost } from '../host.ts';
import type { MachineLink } from './link.ts';
import {
  type Chain,
  GUESTS,
  INET,
  machineJumps,
  ruleComments,
  SHARED_CHAINS,
  TABLES,
  type Table,
} from './ruleset.ts';

/** By table and name. */
export interface InstalledRules {
  /** The comments of its rules, '' for one without; before them, of a chain with a hook, that and its policy. */
  readonly chains: ReadonlyMap<string, readonly string[]>;
  /** Of maps and sets: element to the chain that it leads to: '' where it leads to none. */
  readonly elements: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

/** Two processes. One call of nft cannot list two tables: 1.0.6 finds only the last. */
export async function readInstalledRules(host: QemuHost): Promise<InstalledRules> {
  const chains = new Map<string, string[]>();
  const elements = new Map<string, Map<string, string>>();
  for (const table of TABLES) {
    for (const [, kind, name, body = ''] of (await listTable(host, table)).matchAll(BLOCK)) {
      if (kind === 'chain') chains.set(`${table} ${name}`, readChain(body));
      else elements.set(`${table} ${name}`, readElements(body));
    }
  }
  return { chains, elements };
}

/** A chain, a map or a set, as nft indents it. */
const BLOCK = /^\t(chain|map|set) (\S+) \{\n(.*?)^\t\}$/gms;
const BASE = /^type filter hook (\w+) .*policy (\w+);$/;
const COMMENT = / comment "([^"]*)"$/;
const ELEMENT = /"([^"]+)"(?: : (?:jump (\S+?)|[^,}]*?))?(?=\s*[,}])/g;

/** Empty when there is no such table. */
async function listTable(host: QemuHost, table: Table): Promise<string> {
  try {
    return await host.runInNet('nft', ['list', 'table', ...table.split(' ')]);
  } catch (error) {
    if (error instanceof Error && /failed: Error: No such file or directory/.test(error.message)) return '';
    throw error;
  }
}

function readChain(body: string): string[] {
  const lines = body.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').map(readLine);
}

function readLine(line: string): string {
  const [, hook, policy] = BASE.exec(line) ?? [];
  return hook === undefined ? (COMMENT.exec(line)?.[1] ?? '') : `${hook} ${policy}`;
}

function readElements(body: string): Map<string, string> {
  const [, inBraces = ''] = /elements = (\{.*\})/s.exec(body) ?? [];
  return new Map([...inBraces.matchAll(ELEMENT)].map(([, name = '', chain = '']) => [name, chain]));
}

/** Whether what all machines share is whole. */
export function hasSharedRules(installed: InstalledRules): boolean {
  return SHARED_CHAINS.every((chain) => hasChain(installed, chain));
}

/** Whether the machine's own part is whole. */
export function hasMachineRules(
  installed: InstalledRules,
  { tap }: MachineLink,
  chains: readonly Chain[],
): boolean {
  const hasJumps = machineJumps(tap).every(
    ([table, map, chain]) => jumpTarget(installed, table, map, tap) === chain,
  );
  const isGuest = jumpTarget(installed, INET, GUESTS, tap) !== undefined;
  return hasJumps && isGuest && chains.every((chain) => hasChain(installed, chain));
}

/** Maps that lead the tap elsewhere than they should. */
export function strayJumps(installed: InstalledRules, tap: string): (readonly [table: Table, map: string])[] {
  return machineJumps(tap)
    .filter(([table, map, chain]) => ![undefined, chain].includes(jumpTarget(installed, table, map, tap)))
    .map(([table, map]) => [table, map]);
}

function jumpTarget(
  { elements }: InstalledRules,
  table: Table,
  map: string,
  tap: string,
): string | undefined {
  return elements.get(`${table} ${map}`)?.get(tap);
}

function hasChain({ chains }: InstalledRules, chain: Chain): boolean {
  const base = chain.hook === undefined ? [] : [`${chain.hook.split(' ')[0]} accept`];
  const expected = [...base, ...ruleComments(chain)];
  const installed = chains.get(`${chain.table} ${chain.name}`);
  return installed?.length === expected.length && installed.every((line, at) => line === expected[at]);
}
