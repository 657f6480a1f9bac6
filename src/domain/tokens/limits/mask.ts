/**
 * Hides the resources that a limited token cannot reach: before its verb runs, each of their ids in the
 * request is replaced by an id that nothing has. So the verb answers as it does for a missing resource,
 * in its own order of checks and with the same work, and no verb needs to know about it.
 */
import { Failure } from '../../../kernel/fail.ts';
import { formatId, ID_PREFIXES, type IdKind, newId, parseId } from '../../../kernel/ids.ts';
import { COVERED_KINDS, TEXT_FIELDS } from '../../../spec/token-limits.ts';
import { findInside } from '../../../store/customers/reach.ts';
import type { CustomerActor, Service } from '../../context.ts';

const HIDDEN_KINDS: readonly IdKind[] = [...COVERED_KINDS, 'webhook', 'token', 'action'];
/** No id is that old. */
const LONG_AGO = new Date(0);

/** Whether the requests of the actor must be masked. */
export function isMasked({ limits }: CustomerActor): boolean {
  return limits?.reach != null;
}

/** Returns the parts of a request with the ids that the actor can reach; all other ids find nothing. */
export async function maskOutside<Parts extends Readonly<Record<string, unknown>>>(
  service: Service,
  actor: CustomerActor,
  parts: Parts,
): Promise<Parts> {
  const { customerId, tokenId, limits } = actor;
  const reach = limits?.reach;
  if (!reach || tokenId === null) return parts;
  const named = new Map<string, { readonly kind: IdKind; readonly id: string }>();
  mapIds(parts, (shown, kind, id) => {
    named.set(shown, { kind, id });
    return shown;
  });
  if (named.size === 0) return parts;
  const ids = [...named.values()].map(({ id }) => id);
  const rows = await findInside(service.reads, { customerId, tokenId, reach }, ids);
  const inside = new Set(rows.map(({ kind, id }) => `${kind} ${id}`));
  // Different ids stay different, and equal ones equal: verbs compare them.
  const replacements = new Map<string, string>();
  for (const [shown, { kind, id }] of named)
    if (!inside.has(`${kind} ${id}`)) replacements.set(shown, formatId(kind, newId(LONG_AGO)));
  return mapIds(parts, (shown) => replacements.get(shown) ?? shown) as Parts;
}

type MapId = (shown: string, kind: IdKind, id: string) => string;

/** Copies a value, with each text that is an id replaced. */
function mapIds(value: unknown, map: MapId): unknown {
  if (typeof value === 'string') return mapText(value, map);
  if (Array.isArray(value)) return value.map((item) => mapIds(item, map));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => {
    return [name, TEXT_FIELDS.has(name) ? member : mapIds(member, map)];
  });
  return Object.fromEntries(entries);
}

function mapText(text: string, map: MapId): string {
  for (const kind of HIDDEN_KINDS) {
    if (!text.startsWith(ID_PREFIXES[kind])) continue;
    const id = parseId(kind, text);
    if (id !== undefined) return map(text, kind, id);
  }
  return text;
}

/** Runs the verb of a limited token, whose refusals tell nothing about the rest of the account. */
export async function hideAccount<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw withoutAccountNumbers(error);
  }
}

/** Leaves out numbers that tell of the whole account: the balance, and what counts against its quotas. */
export function withoutAccountNumbers(error: unknown): unknown {
  if (!(error instanceof Failure)) return error;
  const { have: _have, deficit: _deficit, used: _used, ...rest } = error.extras;
  if (error.code === 'insufficient_balance') return new Failure(error.code, rest);
  const isOfToken = String(error.extras.field ?? '').startsWith('limits.');
  return error.code === 'limit_reached' && !isOfToken ? new Failure(error.code, rest) : error;
}
