/** The pages of what stands beside a customer's servers. */
import type { PanelPage } from './page.ts';
import { SNAPSHOT_PAGES } from './snapshots.ts';
import { SSH_KEY_PAGES } from './ssh-keys.ts';
import { VOLUME_PAGES } from './volumes.ts';

export const RESOURCE_PAGES: readonly PanelPage[] = [...VOLUME_PAGES, ...SNAPSHOT_PAGES, ...SSH_KEY_PAGES];
