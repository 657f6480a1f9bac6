/**
 * The packet filter as text for `nft -f -`. Each text is one transaction: the kernel applies all of it or
 * nothing, and no packet meets a partial state. Every statement is an *ensure*, including the tables, so
 * flushed rules are complete again with the next text. Interfaces are matched by name, so rules can exist
 * before their interface.
 *
 * Each rule has a comment with the digest of its chain and its position. `installed-rules.ts` compares these
 * comments, because nft prints rules differently from version to version.
 */
import { createHash } from 'node:crypto';
import type { QemuHost } from '../host.ts';
import {
  type Chain,
  GUESTS,
  INET,
  type Jump,
  MAPS,
  machineJumps,
  SHARED_CHAINS,
  STORAGE_SETS,
  TABLES,
} from './chains.ts';

/** Distinguishes versions of a chain, not forgeries. */
const DIGEST_CHARS = 8;

/**
 * Applies lines as one text. Texts are applied one at a time on this host: of several concurrent ones, nft
 * commits the first and the others start over. Lock order: a machine's lock comes before this one.
 */
export async function applyRuleset(host: QemuHost, lines: readonly string[]): Promise<void> {
  const input = `${[...lines, ...storageElements(host)].join('\n')}\n`;
  await host.withHostLock('network', () => host.runInNet('nft', ['-f', '-'], { input }));
}

/** Opens the way from QEMU processes to the Ceph cluster, also on a host that got its settings just now. */
export async function allowStorage(host: QemuHost): Promise<void> {
  await applyRuleset(host, sharedRules());
}

function storageElements({ options }: QemuHost): string[] {
  if (!options.ceph) return [];
  const [v4, v6] = [false, true].map((isV6) =>
    (options.ceph?.networks ?? []).filter((block) => block.includes(':') === isV6),
  );
  return [
    `add table ${INET}`,
    ...STORAGE_SET_LINES,
    ...[[STORAGE_SETS.ipv4_addr, v4 ?? []] as const, [STORAGE_SETS.ipv6_addr, v6 ?? []] as const].flatMap(
      ([set, blocks]) => [
        `flush set ${INET} ${set}`,
        ...(blocks.length === 0 ? [] : [`add element ${INET} ${set} { ${blocks.join(', ')} }`]),
      ],
    ),
  ];
}

const STORAGE_SET_LINES = Object.entries(STORAGE_SETS).map(
  ([type, set]) => `add set ${INET} ${set} { type ${type}; flags interval; auto-merge; }`,
);

/** Returns the rules that all machines share. */
export function sharedRules(): string[] {
  return [
    ...TABLES.map((table) => `add table ${table}`),
    `add set ${INET} ${GUESTS} { type ifname; }`,
    ...STORAGE_SET_LINES,
    ...MAPS.map(({ table, map }) => `add map ${table} ${map} { type ifname : verdict; }`),
    ...SHARED_CHAINS.flatMap((chain) => [
      `add chain ${chain.table} ${chain.name} { type filter hook ${chain.hook}; policy accept; }`,
      ...chainLines(chain),
    ]),
  ];
}

/** Returns the shared rules together with the chains of this machine. */
export function machineRules(tap: string, chains: readonly Chain[]): string[] {
  return [
    ...sharedRules(),
    ...chains.flatMap(chainLines),
    ...machineJumps(tap).map((jump) => addJump(tap, jump)),
    `add element ${INET} ${GUESTS} { "${tap}" }`,
  ];
}

/** Removes a machine's rules. Adds them first, because nft fails to delete what does not exist. */
export function removeMachineRules(tap: string): string[] {
  return [
    ...sharedRules(),
    ...machineJumps(tap).flatMap((jump) => [
      ...chainLines({ table: jump.table, name: jump.chain, statements: [] }),
      addJump(tap, jump),
      removeJump(tap, jump),
      `delete chain ${jump.table} ${jump.chain}`,
    ]),
    `add element ${INET} ${GUESTS} { "${tap}" }`,
    `delete element ${INET} ${GUESTS} { "${tap}" }`,
  ];
}

function chainLines(chain: Chain): string[] {
  const { table, name, statements } = chain;
  const comments = ruleComments(chain);
  const rules = statements.map((each, at) => `add rule ${table} ${name} ${each} comment "${comments[at]}"`);
  return [`add chain ${table} ${name}`, `flush chain ${table} ${name}`, ...rules];
}

/** Returns the comments of the chain's rules, in order. */
export function ruleComments({ statements }: Chain): string[] {
  const hash = createHash('sha256').update(statements.join('\n'));
  const digest = hash.digest('base64url').slice(0, DIGEST_CHARS);
  return statements.map((_, at) => `${digest} ${at + 1}`);
}

function addJump(tap: string, { table, map, chain }: Jump): string {
  return `add element ${table} ${map} { "${tap}" : jump ${chain} }`;
}

/** Also precedes the correct jump if the tap has a wrong one: adding a jump does not replace another. */
export function removeJump(tap: string, { table, map }: Jump): string {
  return `delete element ${table} ${map} { "${tap}" }`;
}
