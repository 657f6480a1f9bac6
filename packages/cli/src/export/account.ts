/** The resources of an account that a configuration can describe, in a stable order. */
import type { Alert, FirewallGroup, Server, SshKey, Volume } from '@skerry/sdk';

export interface ExportedAccount {
  readonly keys: readonly SshKey[];
  readonly groups: readonly FirewallGroup[];
  readonly servers: readonly Server[];
  readonly volumes: readonly Volume[];
  readonly alerts: readonly Alert[];
}

/** Leaves out servers that are being deleted, volumes that are lost, and references to what is left out. */
export function withoutGone(account: ExportedAccount): ExportedAccount {
  const { keys, groups, servers, volumes, alerts } = account;
  const kept = sorted(servers.filter(({ status }) => status !== 'destroying'));
  const ids = new Set(kept.map(({ id }) => id));
  const keyIds = new Set(keys.map(({ id }) => id));
  return {
    keys: sorted(keys),
    groups: sorted(groups).map((one) => ({ ...one, applied_to: one.applied_to.filter((id) => ids.has(id)) })),
    servers: kept.map((one) => ({ ...one, ssh_keys: one.ssh_keys.filter((id) => keyIds.has(id)) })),
    volumes: sorted(volumes.filter(({ lost_at }) => lost_at === null)).map((one) => ({
      ...one,
      attached_to: one.attached_to !== null && ids.has(one.attached_to) ? one.attached_to : null,
    })),
    alerts: sorted(alerts).map((one) => {
      return { ...one, servers: one.servers?.filter((id) => ids.has(id)) ?? null };
    }),
  };
}

/** By code units, so that the order depends neither on the locale nor on the time of creation. */
function sorted<T extends { readonly name: string; readonly id: string }>(items: readonly T[]): T[] {
  const key = ({ name, id }: T) => `${name}\n${id}`;
  return [...items].sort((one, other) => (key(one) < key(other) ? -1 : 1));
}

/** Returns a function that names a resource by its name if no other has it, and by its ID otherwise. */
export function referencesBy<T extends { readonly name: string; readonly id: string }>(
  items: readonly T[],
): (id: string) => string {
  const byId = new Map(items.map((one) => [one.id, one.name]));
  const counts = new Map<string, number>();
  // Names are compared in this form.
  for (const { name } of items)
    counts.set(name.normalize('NFC'), (counts.get(name.normalize('NFC')) ?? 0) + 1);
  return (id) => {
    const name = byId.get(id);
    return name !== undefined && counts.get(name.normalize('NFC')) === 1 ? name : id;
  };
}

/** The members of a protection that are set; undefined for none. */
export function protectionOf(protection: object): Readonly<Record<string, true>> | undefined {
  const set = Object.entries(protection).filter(([, value]) => value === true);
  return set.length > 0 ? Object.fromEntries(set) : undefined;
}

/** The host names of the server's own addresses; undefined for none. */
export function rdnsOf({ ipv4, ipv6 }: Server): Readonly<Record<string, string>> | undefined {
  const names = Object.entries({ ipv4: ipv4?.rdns, ipv6: ipv6?.rdns }).filter(([, name]) => name);
  return names.length > 0 ? Object.fromEntries(names as [string, string][]) : undefined;
}

/** Undefined for an empty list or map, which a configuration leaves out. */
export function unlessEmpty<T extends object>(value: T): T | undefined {
  return Object.keys(value).length > 0 ? value : undefined;
}

/** Escapes invisible characters, in the notation of JSON, YAML, and HCL. */
export function escapeInvisible(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (one) => {
    const code = one.codePointAt(0) ?? 0;
    const hex = code.toString(16);
    return code > 0xffff ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
  });
}
