/** The pages of what stands beside servers. What they prove stands in `resources/`; they share one service. */
import { after, before, describe } from 'node:test';
import { startWorld, type World } from '../support/world.ts';
import { type Desk, openDesk } from './resources/desk.ts';
import { firewallPages } from './resources/firewall.ts';
import { imagePages } from './resources/images.ts';
import { snapshotPages, volumePages } from './resources/storage.ts';
import { webhookPages } from './resources/webhooks.ts';

let world: World;
let desk: Desk;
before(async () => {
  world = await startWorld({ SKERRY_WEBHOOK_ALLOW_LOOPBACK: 'true', SKERRY_RATE_CAPACITY: '100000' });
  desk = await openDesk(world);
});
after(() => world.close());

describe('volumes in the panel', () => volumePages(() => desk));
describe('snapshots in the panel', () => snapshotPages(() => desk));
describe('firewall groups in the panel', () => firewallPages(() => desk));
describe('images in the panel', () => imagePages(() => desk));
describe('webhooks in the panel', () => webhookPages(() => desk));
