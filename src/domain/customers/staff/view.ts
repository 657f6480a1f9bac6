/** A customer's resources as the customer's API shows them. Their audit log tells that staff looked. */
import { formatId } from '../../../kernel/ids.ts';
import type { Page, PageRequest } from '../../../spec/lists.ts';
import { listAuditEvents } from '../../audit/read.ts';
import { getBalance, listLedger } from '../../billing/ledger.ts';
import type { ScopedActor, Service } from '../../context.ts';
import { listGroups } from '../../firewall/read.ts';
import { listImages } from '../../images/read.ts';
import { recordAudit, systemActor } from '../../record.ts';
import { listAlerts } from '../../servers/alerts/read.ts';
import { listServers } from '../../servers/read.ts';
import { listSnapshots } from '../../snapshots/read.ts';
import { listSshKeys } from '../../ssh-keys/read.ts';
import { listTokens } from '../../tokens/tokens.ts';
import { listTopups } from '../../topups/read.ts';
import { listVolumes } from '../../volumes/read.ts';
import { listWebhooks } from '../../webhooks/read.ts';
import { readLimits } from '../limits.ts';
import { requireCustomer } from '../operator.ts';

/** Of each kind, the newest. */
const SHOWN_MAX = 100;

export interface ViewedList {
  /** Such as `ssh_keys`. */
  readonly name: string;
  readonly data: readonly object[];
  readonly has_more: boolean;
}

export interface ViewedAccount {
  readonly object: 'customer_view';
  readonly id: string;
  readonly email: string;
  readonly balance: object;
  readonly lists: readonly ViewedList[];
}

type ReadList = (service: Service, actor: ScopedActor, page: PageRequest) => Promise<Page<object>>;

const whole = (items: readonly object[]): Page<object> => ({ items: items.slice(0, SHOWN_MAX), next: null });

const LISTS: readonly (readonly [name: string, read: ReadList])[] = [
  ['servers', listServers],
  ['volumes', listVolumes],
  ['snapshots', listSnapshots],
  ['images', (service, actor, page) => listImages(service, actor, { ...page, filter: { type: 'custom' } })],
  ['firewall_groups', listGroups],
  ['ssh_keys', listSshKeys],
  ['webhooks', listWebhooks],
  ['alerts', listAlerts],
  ['tokens', async (service, actor) => whole(await listTokens(service, actor))],
  ['topups', listTopups],
  ['ledger', listLedger],
  ['limits', async (service, actor) => whole(await readLimits(service, actor))],
  ['audit_events', listAuditEvents],
];

/** Records the look first. No object has a secret: the API shows each only once. */
export async function viewAccount(service: Service, name: string): Promise<ViewedAccount> {
  const now = service.clock.now();
  const customer = await service.db.transaction(async (tx) => {
    const found = await requireCustomer(tx, name);
    const entry = { actor: systemActor(now), action: 'customer.view', resource: null } as const;
    await recordAudit(tx, { ...entry, customerId: found.id }, now);
    return found;
  });
  const actor: ScopedActor = { ...systemActor(now), customerId: customer.id, scope: 'billing' };
  const page = { filter: {}, sort: 'created_at', descending: true, after: null, size: SHOWN_MAX } as const;
  const lists: ViewedList[] = [];
  for (const [list, read] of LISTS) {
    const { items, next } = await read(service, actor, page);
    lists.push({ name: list, data: items, has_more: next !== null });
  }
  return {
    object: 'customer_view',
    id: formatId('customer', customer.id),
    email: customer.email,
    balance: await getBalance(service, actor),
    lists,
  };
}
