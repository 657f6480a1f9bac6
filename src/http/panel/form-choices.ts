/** The choices that forms for servers offer. */
import { listPlans } from '../../domain/catalogue/offers.ts';
import { listImages } from '../../domain/images/read.ts';
import { listSshKeys } from '../../domain/ssh-keys/read.ts';
import type { Image } from '../../spec/schemas/image.ts';
import { PLAN_CATEGORIES, type Plan } from '../../spec/schemas/plan.ts';
import type { ListedSshKey } from '../../spec/schemas/ssh-key.ts';
import { type Form, field } from '../form.ts';
import type { PageContext } from './page-types.ts';
import { readAllPages } from './read-all-pages.ts';

/** Virtual plans first, then by price. */
export async function listAllPlans({ service }: PageContext): Promise<readonly Plan[]> {
  const items = await readAllPages({ sort: 'id' }, (page) => listPlans(service, page));
  const order = (plan: Plan) => PLAN_CATEGORIES.indexOf(plan.category);
  return items.toSorted((a, b) => order(a) - order(b) || a.price_usd_month - b.price_usd_month);
}

export async function listOwnSshKeys(context: PageContext): Promise<readonly ListedSshKey[]> {
  return await readAllPages({ sort: 'name' }, (page) =>
    listSshKeys(context.service, context.customer(), page),
  );
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

/** Encodes cloud-init user data in Base64. Browsers send CRLF line endings, which shells do not accept. */
export function encodeUserData(form: Form, name: string): string | undefined {
  const typed = field(form, name.replace(/_b64$/, '')).replaceAll('\r\n', '\n');
  return typed === '' ? undefined : Buffer.from(typed, 'utf8').toString('base64');
}
