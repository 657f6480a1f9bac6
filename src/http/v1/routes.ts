/** Every route of the REST surface, in the order of SPEC's table. */
import { AUDIT_ROUTES } from './audit.ts';
import { BILLING_ROUTES } from './billing.ts';
import { FIREWALL_ROUTES } from './firewall.ts';
import type { Route } from './route.ts';
import { SNAPSHOT_ROUTES } from './snapshots.ts';
import { TOKEN_ROUTES } from './tokens.ts';
import { VOLUME_ROUTES } from './volumes.ts';
import { WEBHOOK_ROUTES } from './webhooks.ts';

export const ROUTES: readonly Route[] = [
  ...TOKEN_ROUTES,
  ...BILLING_ROUTES,
  ...VOLUME_ROUTES,
  ...SNAPSHOT_ROUTES,
  ...FIREWALL_ROUTES,
  ...WEBHOOK_ROUTES,
  ...AUDIT_ROUTES,
];
