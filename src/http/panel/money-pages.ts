/** All billing pages. */
import { BILLING_PAGES } from './billing.ts';
import type { PanelPage } from './page-types.ts';
import { PAYMENT_PAGES } from './payment.ts';
import { TOPUP_PAGES } from './topup.ts';

export const MONEY_PAGES: readonly PanelPage[] = [...TOPUP_PAGES, ...PAYMENT_PAGES, ...BILLING_PAGES];
