/** Finds a customer's own resources for the panel's search. */
import { addressFamily } from '../../kernel/cidr.ts';
import { formatId, parseId } from '../../kernel/ids.ts';
import { type FoundKind, type SearchValues, searchResources } from '../../store/customers/search.ts';
import type { CustomerActor, Service } from '../context.ts';

export interface FoundResource {
  readonly kind: FoundKind;
  readonly id: string;
  readonly name: string;
  readonly detail: string;
}

const RESULTS_MAX = 25;
const KINDS: readonly FoundKind[] = [
  'server',
  'volume',
  'snapshot',
  'customImage',
  'sshKey',
  'firewallGroup',
  'webhook',
  'alert',
  'topup',
];

/** Returns the best matches first. The caller bounds the length of the text; an empty one finds nothing. */
export async function findResources(
  service: Service,
  { customerId }: CustomerActor,
  typed: string,
): Promise<readonly FoundResource[]> {
  if (typed === '') return [];
  const values: SearchValues = {
    customerId,
    exact: typed,
    text: typed.toLowerCase(),
    id: idIn(typed),
    ipv6: addressFamily(typed) === 6 ? typed : null,
    limit: RESULTS_MAX,
  };
  const rows = await searchResources(service.reads, values);
  return rows.map((row) => ({ ...row, id: formatId(row.kind, row.id) }));
}

function idIn(typed: string): string | null {
  for (const kind of KINDS) {
    const id = parseId(kind, typed);
    if (id !== undefined) return id;
  }
  return null;
}
