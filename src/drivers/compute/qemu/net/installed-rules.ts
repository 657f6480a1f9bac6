/** Reads the installed `skerry` tables once for all machines and compares them with the expected rules. */
import type { QemuHost } from '../host.ts';
import {
  type Chain,
  GUESTS,
  INET,
  type Jump,
  machineJumps,
  SHARED_CHAINS,
  TABLES,
  type Table,
} from './chains.ts';
import { ruleComments } from './ruleset.ts';

/** Keyed by table and name. */
export interface InstalledRules {
  /** Comments of each chain's rules, '' for none. A chain with a hook starts with its hook and policy. */
  readonly chains: ReadonlyMap<string, readonly string[]>;
  /** Elements of maps and sets with the chain they jump to, or ''. */
  readonly elements: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

/** Runs nft once per table: with two tables in one call, nft 1.0.6 only finds the last. */
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

/** Matches a chain, map, or set in nft's own indentation. */
const BLOCK = /^\t(chain|map|set) (\S+) \{\n(.*?)^\t\}$/gms;
const BASE = /^type filter hook (\w+) .*policy (\w+);$/;
const COMMENT = / comment "([^"]*)"$/;
const ELEMENT = /"([^"]+)"(?: : (?:jump (\S+?)|[^,}]*?))?(?=\s*[,}])/g;

/** Returns '' if the table does not exist. */
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

/** Whether the rules shared by all machines are complete. */
export function hasSharedRules(installed: InstalledRules): boolean {
  return SHARED_CHAINS.every((chain) => hasChain(installed, chain));
}

/** Whether the machine's own rules are complete. */
export function hasMachineRules(installed: InstalledRules, tap: string, chains: readonly Chain[]): boolean {
  const hasJumps = machineJumps(tap).every((jump) => jumpTarget(installed, jump, tap) === jump.chain);
  const isGuest = installed.elements.get(`${INET} ${GUESTS}`)?.has(tap) === true;
  return hasJumps && isGuest && chains.every((chain) => hasChain(installed, chain));
}

/** Returns the jumps for which the tap has a wrong one. */
export function strayJumps(installed: InstalledRules, tap: string): Jump[] {
  return machineJumps(tap).filter((jump) => {
    const target = jumpTarget(installed, jump, tap);
    return target !== undefined && target !== jump.chain;
  });
}

function jumpTarget({ elements }: InstalledRules, { table, map }: Jump, tap: string): string | undefined {
  return elements.get(`${table} ${map}`)?.get(tap);
}

function hasChain({ chains }: InstalledRules, chain: Chain): boolean {
  const base = chain.hook === undefined ? [] : [`${chain.hook.split(' ')[0]} accept`];
  const expected = [...base, ...ruleComments(chain)];
  const installed = chains.get(`${chain.table} ${chain.name}`);
  return installed?.length === expected.length && installed.every((line, at) => line === expected[at]);
}
