/** The limits of an account, and how much of each it uses. */

import { toGib } from '../../kernel/sizes.ts';
import { DAY_MS } from '../../kernel/time.ts';
import { type QUOTAS, SHOWN_QUOTAS } from '../../spec/limits.ts';
import type { Page, PageRequest } from '../../spec/lists.ts';
import type { Limit } from '../../spec/schemas/account.ts';
import { scopeCovers } from '../../spec/scopes.ts';
import { countTokens } from '../../store/customers/tokens.ts';
import { countGroups } from '../../store/firewall.ts';
import { readImageUsage } from '../../store/images/images.ts';
import { readServerCount } from '../../store/ledger/ledger.ts';
import { countAlerts } from '../../store/servers/alerts.ts';
import { countSnapshots } from '../../store/snapshots.ts';
import { countSshKeys } from '../../store/ssh-keys.ts';
import { countOpenTopups, countUnpaidTopups } from '../../store/topups/topups.ts';
import { countVolumes, sumVolumeDisk } from '../../store/volumes/volumes.ts';
import { countWebhooks } from '../../store/webhooks/webhooks.ts';
import type { ScopedActor, Service } from '../context.ts';
import { readQuotas } from './own-limits.ts';

type Quota = keyof typeof QUOTAS;

/** The operator may have lowered a quota below the number in use. Counting stops here. */
const COUNTED_MAX = 1_000_000;

/** Returns all limits by name. */
export async function readLimits(service: Service, actor: ScopedActor): Promise<Limit[]> {
  const { mode } = service.settings;
  const quotas = await readQuotas(service, service.db, actor.customerId);
  // The numbers would tell about resources that the token cannot reach.
  const used = actor.limits?.reach ? {} : await readUsage(service, actor);
  // The sandbox does not enforce this quota: its addresses are free.
  const shown = SHOWN_QUOTAS.filter(({ quota }) => mode !== 'sandbox' || quota !== 'unpaidTopupsPerDay');
  return shown.map(({ name, quota, per }) => {
    return { object: 'limit', name, limit: quotas[quota], used: used[quota] ?? null, per };
  });
}

/** Lists the limits by name. */
export async function listLimits(
  service: Service,
  actor: ScopedActor,
  page: PageRequest,
): Promise<Page<Limit>> {
  const limits = await readLimits(service, actor);
  const ordered = page.descending ? limits.reverse() : limits;
  const start = page.after === null ? 0 : ordered.findIndex(({ name }) => name === page.after?.id) + 1;
  const items = ordered.slice(start, start + page.size);
  const last = items.at(-1);
  const hasMore = last !== undefined && start + page.size < ordered.length;
  return { items, next: hasMore ? { value: last.name, id: last.name } : null };
}

/** Returns the use of each quota per account. Top-ups are only for the scope `billing`. */
async function readUsage(
  { db, clock }: Service,
  { customerId, scope }: ScopedActor,
): Promise<Partial<Record<Quota, number>>> {
  const [
    servers,
    tokens,
    webhooks,
    sshKeys,
    volumes,
    volumesDiskGb,
    snapshots,
    images,
    firewallGroups,
    alerts,
  ] = await Promise.all([
    readServerCount(db, customerId),
    countTokens(db, customerId, COUNTED_MAX),
    countWebhooks(db, customerId, COUNTED_MAX),
    countSshKeys(db, customerId, COUNTED_MAX),
    countVolumes(db, customerId, COUNTED_MAX),
    sumVolumeDisk(db, customerId),
    countSnapshots(db, customerId, COUNTED_MAX),
    readImageUsage(db, customerId),
    countGroups(db, customerId, COUNTED_MAX),
    countAlerts(db, customerId, COUNTED_MAX),
  ]);
  const owned = {
    servers,
    tokens,
    webhooks,
    sshKeys,
    volumes,
    volumesDiskGb,
    snapshots,
    firewallGroups,
    alerts,
  };
  const ofImages = { customImages: images.count, customImagesGb: toGib(images.bytes) };
  if (!scopeCovers(scope, 'billing')) return { ...owned, ...ofImages };
  const since = new Date(clock.now().getTime() - DAY_MS);
  const [openTopups, unpaid] = await Promise.all([
    countOpenTopups(db, customerId),
    countUnpaidTopups(db, customerId, { since, coins: [] }),
  ]);
  return { ...owned, ...ofImages, openTopups, unpaidTopupsPerDay: unpaid.all };
}
