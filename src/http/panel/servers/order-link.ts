/**
 * Carries an unfinished order through the pages of a top-up, in their URLs. It is compressed and sealed for
 * its customer: histories and logs show none of it, and no one else can open it. It never has a password.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { CustomerActor, Service } from '../../../domain/context.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { ORDER_QUERY } from '../../../spec/paths.ts';
import type { SealedColumn } from '../../../spec/sealed.ts';
import { type Form, field } from '../../form.ts';

const ORDER_LINK: SealedColumn = {
  purpose: 'order link',
  table: 'url',
  column: ORDER_QUERY,
  row: 'customer',
};

/**
 * Fits the path that signing in returns to, and the 4 KiB that reverse proxies reserve for the headers of a
 * response: a redirect contains it.
 */
const LINK_MAX_CHARS = 1_850;
/** Texts without a small bound. The longest is left out first if the order is too long. */
const LONG_FIELDS = ['user_data', 'key_text', 'labels', 'tags'];
/** Names the fields that were left out, for the page that shows the order again. */
export const LEFT_OUT = 'left_out';

type Owner = Pick<CustomerActor, 'customerId'>;

/** Fields that an order keeps. A private key that was pasted by mistake is not one of them. */
export function keptFields(form: Form): [string, string][] {
  return [...form].filter(
    ([name, value]) => !/^_|password|^max_price_usd$/.test(name) && !value.includes('PRIVATE KEY'),
  );
}

export function sealOrder({ keys }: Pick<Service, 'keys'>, { customerId }: Owner, form: Form): string {
  const fields = new Map(keptFields(form));
  const droppable = LONG_FIELDS.filter((name) => fields.has(name)).sort(
    (a, b) => field(fields, b).length - field(fields, a).length,
  );
  for (;;) {
    const packed = deflateRawSync(JSON.stringify([...fields]));
    const link = keys.seal(ORDER_LINK, customerId, packed);
    const longest = droppable.shift();
    if (link.length <= LINK_MAX_CHARS) return link;
    // No browser sends this: the order starts empty.
    if (longest === undefined) return '';
    fields.delete(longest);
    fields.set(LEFT_OUT, [field(fields, LEFT_OUT), longest].filter(Boolean).join(' '));
  }
}

/** Returns the fields of an order; null if the text is not an order of this customer. */
export function openOrder({ keys }: Pick<Service, 'keys'>, { customerId }: Owner, text: string): Form | null {
  if (text === '' || text.length > LINK_MAX_CHARS) return null;
  try {
    const packed = keys.open(ORDER_LINK, customerId, text);
    const bytes = inflateRawSync(packed, { maxOutputLength: LIMITS.panelFormBodyMaxBytes });
    return new Map(JSON.parse(bytes.toString()) as [string, string][]);
  } catch {
    // Typed by hand, of another customer, or sealed with a key that was rotated out: the form starts empty.
    return null;
  }
}

/** Returns the order of a page's URL or form, if it is this customer's. */
export function orderIn(service: Pick<Service, 'keys'>, owner: Owner, input: Form): string | null {
  const text = field(input, ORDER_QUERY);
  return openOrder(service, owner, text) === null ? null : text;
}

/** Returns the path with the order in its query. */
export function withOrder(path: string, order: string | null): string {
  if (order === null || order === '' || order.length > LINK_MAX_CHARS) return path;
  const [before = '', anchor] = path.split('#');
  const query = new URLSearchParams({ [ORDER_QUERY]: order });
  return `${before}${before.includes('?') ? '&' : '?'}${query}${anchor === undefined ? '' : `#${anchor}`}`;
}
