/** Every route of the REST surface, in the order of the table in SPEC. */
import { AUDIT_ROUTES } from './audit.ts';
import { BILLING_ROUTES } from './billing.ts';
import { PLAN_ROUTES, REGION_ROUTES } from './catalogue.ts';
import { EVENT_ROUTES } from './events.ts';
import { FIREWALL_ROUTES } from './firewall.ts';
import { IMAGE_ROUTES, IMAGE_UPLOAD_ROUTES } from './images.ts';
import type { Route } from './route.ts';
import { CONSOLE_ROUTES, SERVER_ACTION_ROUTES } from './server-actions.ts';
import { SERVER_DETAIL_ROUTES, SERVER_ROUTES } from './servers.ts';
import { SNAPSHOT_ROUTES } from './snapshots.ts';
import { SSH_KEY_ROUTES } from './ssh-keys.ts';
import { TOKEN_ROUTES } from './tokens.ts';
import { VOLUME_ROUTES } from './volumes.ts';
import { WEBHOOK_ROUTES } from './webhooks.ts';

export const ROUTES: readonly Route[] = [
  ...SERVER_ROUTES,
  ...SERVER_ACTION_ROUTES,
  ...CONSOLE_ROUTES,
  ...SERVER_DETAIL_ROUTES,
  ...IMAGE_ROUTES,
  ...IMAGE_UPLOAD_ROUTES,
  ...PLAN_ROUTES,
  ...REGION_ROUTES,
  ...SSH_KEY_ROUTES,
  ...TOKEN_ROUTES,
  ...BILLING_ROUTES,
  ...VOLUME_ROUTES,
  ...SNAPSHOT_ROUTES,
  ...FIREWALL_ROUTES,
  ...WEBHOOK_ROUTES,
  ...AUDIT_ROUTES,
  ...EVENT_ROUTES,
];
