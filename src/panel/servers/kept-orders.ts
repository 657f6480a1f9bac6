/** Orders that are kept while their customer tops up: the way back to them, on several pages. */
import { LIMITS } from '../../spec/limits.ts';
import { DEPLOY_PATH } from '../../spec/paths.ts';
import { time } from '../parts/components.ts';
import { type FormContext, form } from '../parts/form.ts';
import { type Html, html } from '../parts/html.ts';

/** The field of the order form that names the draft that it was opened from. */
export const DRAFT_FIELD = 'draft';

export interface KeptOrder {
  readonly id: string;
  /** The order form, with the order in it. */
  readonly path: string;
  readonly name: string;
  /** Empty: not chosen yet. */
  readonly plan: string;
  readonly expiresAt: string;
}

/** Returns a line for each order. `forms` adds a button that discards it. */
export function keptOrders(orders: readonly KeptOrder[], forms?: FormContext): Html | null {
  if (orders.length === 0) return null;
  return html`${orders.map((order) => keptOrder(order, forms))}`;
}

function keptOrder({ id, path, name, plan, expiresAt }: KeptOrder, forms?: FormContext): Html {
  const planNote = plan !== '' && ` (${plan})`;
  return html`<div class="banner"><p>We keep your order of <strong>${name}</strong>${planNote} until
${time(expiresAt)}. <a href="${path}" aria-label="Continue your order of ${name}">Continue your order</a></p>
${forms && discardForm(id, forms)}</div>\n`;
}

/** Below the order form, when it was opened from a draft. */
export function discardOrder(id: string, forms: FormContext): Html {
  return html`<p class="soft">This order is kept for ${LIMITS.orderDraftDays} days after you leave it for a
top-up. A password is never kept.</p>
${discardForm(id, forms)}`;
}

function discardForm(id: string, forms: FormContext): Html {
  const button = html`<button class="quiet">Discard this order</button>`;
  return form(forms, { name: 'discard', key: id, action: DEPLOY_PATH, class: 'inline' }, button);
}

/** Keeps the draft's id in the form. */
export function draftField(id: string): Html {
  return html`<input type="hidden" name="${DRAFT_FIELD}" value="${id}">\n`;
}
