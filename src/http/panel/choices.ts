/** Whole lists, for the choices that forms offer. */
import { listPlans, listRegions } from '../../domain/catalogue/offers.ts';
import { listImages } from '../../domain/images/read.ts';
import { listServers } from '../../domain/servers/read.ts';
import { listSnapshots } from '../../domain/snapshots/read.ts';
import { listSshKeys } from '../../domain/ssh-keys/read.ts';
import { listVolumes } from '../../domain/volumes/read.ts';
import { LIMITS } from '../../spec/limits.ts';
import type { PagePosition, PageRequest } from '../../spec/lists.ts';
import type { Image } from '../../spec/schemas/image.ts';
import { PLAN_CATEGORIES, type Plan, type Region } from '../../spec/schemas/plan.ts';
import type { Server } from '../../spec/schemas/server.ts';
import type { Snapshot } from '../../spec/schemas/snapshot.ts';
import type { ListedSshKey } from '../../spec/schemas/ssh-key.ts';
import type { Volume } from '../../spec/schemas/volume.ts';
import type { ListPage } from '../v1/route.ts';
import type { PageContext } from './page-types.ts';

/** Virtual plans first, then by price. */
export async function listAllPlans({ service }: Pick<PageContext, 'service'>): Promise<readonly Plan[]> {
  const items = await readAllPages({ sort: 'id' }, (page) => listPlans(service, page));
  const order = (plan: Plan) => PLAN_CATEGORIES.indexOf(plan.category);
  return items.toSorted((a, b) => order(a) - order(b) || a.price_usd_month - b.price_usd_month);
}

export async function listOwnSshKeys(context: PageContext): Promise<readonly ListedSshKey[]> {
  return await readAllPages({ sort: 'name' }, (page) =>
    listSshKeys(context.service, context.customer(), page),
  );
}

/** Volumes that no server has. */
export async function listDetachedVolumes(context: PageContext): Promise<readonly Volume[]> {
  const items = await readAllPages({ sort: 'name' }, (page) =>
    listVolumes(context.service, context.customer(), page),
  );
  return items.filter(({ attached_to, lost_at }) => attached_to === null && lost_at === null);
}

const SNAPSHOTS_OFFERED = 20;

/** The newest ready snapshots, for a choice. */
export async function listNewestSnapshots(context: PageContext): Promise<readonly Snapshot[]> {
  const { items } = await listSnapshots(context.service, context.customer(), {
    filter: { status: 'ready' },
    sort: 'created_at',
    descending: true,
    after: null,
    size: SNAPSHOTS_OFFERED,
  });
  return items;
}

/** Official images by family, newest first, then the customer's own. Deprecated images are left out. */
export async function listUsableImages(context: PageContext): Promise<readonly Image[]> {
  const items = await readAllPages({ sort: 'id' }, (page) =>
    listImages(context.service, context.customer(), page),
  );
  const rank = (image: Image) =>
    image.type === 'official' ? image.family : `~${image.name ?? image.version}`;
  return items
    .filter((image) => image.deprecated_at === null)
    .toSorted((a, b) => compare(rank(a), rank(b)) || compare(b.released_at, a.released_at));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Returns all of the customer's servers by name, filtered as in the REST list of servers. */
export async function listOwnServers(
  context: PageContext,
  filter: Readonly<Record<string, string>> = {},
): Promise<readonly Server[]> {
  return await readAllPages({ sort: 'name', filter }, (page) =>
    listServers(context.service, context.customer(), page),
  );
}

export async function listAllRegions({ service }: PageContext): Promise<readonly Region[]> {
  return await readAllPages({ sort: 'id' }, (page) => listRegions(service, page));
}

/** At most a thousand items. Quotas can be higher, but a longer list needs a page with filters. */
const PAGES_MAX = 10;

/** Reads a whole list in the requested order. */
export async function readAllPages<Item>(
  query: Pick<PageRequest, 'sort'> & Partial<Pick<PageRequest, 'descending' | 'filter'>>,
  read: (page: PageRequest) => Promise<ListPage<Item>>,
): Promise<readonly Item[]> {
  const collected: Item[] = [];
  let after: PagePosition | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { items, next }: ListPage<Item> = await read({
      filter: {},
      descending: false,
      ...query,
      after,
      size: LIMITS.pageSizeMax,
    });
    collected.push(...items);
    if (next === null) break;
    after = next;
  }
  return collected;
}
