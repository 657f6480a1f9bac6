/** The pages of all resources except servers. */
import { FIREWALL_PAGES } from './firewall.ts';
import { IMAGE_PAGES } from './images.ts';
import type { PanelPage } from './page-types.ts';
import { SNAPSHOT_PAGES } from './snapshots.ts';
import { SSH_KEY_PAGES } from './ssh-keys.ts';
import { VOLUME_PAGES } from './volumes.ts';
import { WEBHOOK_PAGES } from './webhooks.ts';

export const RESOURCE_PAGES: readonly PanelPage[] = [
  ...VOLUME_PAGES,
  ...SNAPSHOT_PAGES,
  ...FIREWALL_PAGES,
  ...SSH_KEY_PAGES,
  ...IMAGE_PAGES,
  ...WEBHOOK_PAGES,
];
