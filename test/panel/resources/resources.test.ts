/** Tests of the panel's resource pages. The tests are in `resources/` and share one service. */
import { after, before, describe } from 'node:test';
import { startWorld, type World } from '../../support/world.ts';
import { activityParts } from './activity.ts';
import { alertPages } from './alerts.ts';
import { firewallPages } from './firewall.ts';
import { type ResourceFixture, startResourceFixture } from './fixture.ts';
import { imagePages } from './images.ts';
import { protectedServer, snapshotPages, volumePages } from './storage.ts';
import { ticketPages } from './tickets.ts';
import { webhookPages } from './webhooks.ts';

let world: World;
let fixture: ResourceFixture;
before(async () => {
  world = await startWorld({ SKERRY_WEBHOOK_ALLOW_LOOPBACK: 'true', SKERRY_RATE_CAPACITY: '100000' });
  fixture = await startResourceFixture(world);
});
after(() => world.close());

describe('volumes in the panel', () => volumePages(() => fixture));
describe('snapshots in the panel', () => snapshotPages(() => fixture));
describe('protection in the panel', () => protectedServer(() => fixture));
describe('firewall groups in the panel', () => firewallPages(() => fixture));
describe('images in the panel', () => imagePages(() => fixture));
describe('activity in the panel', () => activityParts(() => fixture));
describe('webhooks in the panel', () => webhookPages(() => fixture));
describe('alerts in the panel', () => alertPages(() => fixture));

describe('tickets in the panel', () => ticketPages(() => fixture));
