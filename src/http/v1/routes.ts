/** Every route of the REST surface, in the order of the table in SPEC. */

import type { Route } from './route.ts';
import { ACCOUNT_ROUTES } from './routes/account.ts';
import { ACTION_ROUTES } from './routes/actions.ts';
import { ALERT_ROUTES } from './routes/alerts.ts';
import { AUDIT_ROUTES } from './routes/audit.ts';
import { BACKUP_ROUTES } from './routes/backups.ts';
import { BILLING_ROUTES } from './routes/billing.ts';
import { PLAN_ROUTES, REGION_ROUTES } from './routes/catalogue.ts';
import { EVENT_ROUTES } from './routes/events.ts';
import { FIREWALL_ROUTES } from './routes/firewall.ts';
import { IMAGE_ROUTES, IMAGE_UPLOAD_ROUTES } from './routes/images.ts';
import { QUOTE_ROUTES } from './routes/quotes.ts';
import { CONSOLE_ROUTES, SERVER_ACTION_ROUTES } from './routes/server-actions.ts';
import { SERVER_DETAIL_ROUTES, SERVER_ROUTES } from './routes/servers.ts';
import { SNAPSHOT_ROUTES } from './routes/snapshots.ts';
import { SSH_KEY_ROUTES } from './routes/ssh-keys.ts';
import { TICKET_ROUTES } from './routes/tickets.ts';
import { VOLUME_ROUTES } from './routes/volumes.ts';
import { WEBHOOK_ROUTES } from './routes/webhooks.ts';

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
  ...ACCOUNT_ROUTES,
  ...BILLING_ROUTES,
  ...QUOTE_ROUTES,
  ...VOLUME_ROUTES,
  ...SNAPSHOT_ROUTES,
  ...BACKUP_ROUTES,
  ...FIREWALL_ROUTES,
  ...WEBHOOK_ROUTES,
  ...ALERT_ROUTES,
  ...TICKET_ROUTES,
  ...AUDIT_ROUTES,
  ...ACTION_ROUTES,
  ...EVENT_ROUTES,
];
