/** A customer with a server, another customer, and a person of support, for tests of abuse reports. */
import assert from 'node:assert/strict';
import { formatRfc3339, HOUR_MS } from '../../../src/kernel/time.ts';
import type { SessionClient } from '../../support/session-client.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import { type ApiAnswer, type Person, type StaffWorld, startStaffWorld } from './staff-world.ts';

export interface Report {
  readonly id: string;
  readonly state: string;
  readonly overdue: boolean;
  readonly match: string;
  readonly server: string | null;
  readonly customer: string | null;
  readonly ticket: string | null;
  readonly deadline: string;
  readonly suspended_at: string | null;
  readonly reporter: string | null;
  readonly proposal: { readonly text: string } | null;
}

export const REPORTER = 'victim@elsewhere.example';

interface OrderedServer {
  readonly id: string;
  readonly ipv4: string;
}

export interface AbuseWorld extends StaffWorld {
  readonly support: Person;
  readonly owner: SessionClient;
  readonly other: SessionClient;
  /** The API of the owner of the server. */
  readonly ofOwner: V1Client;
  readonly server: OrderedServer;
  order(customer: SessionClient): Promise<OrderedServer>;
  staff(method: string, path: string, body?: object): Promise<ApiAnswer>;
  inHours(hours: number): string;
  /** Records a report about the server of now. */
  record(more?: object): Promise<Report>;
  read(report: { readonly id: string }): Promise<Report>;
  act(report: { readonly id: string }, verb: string, body?: object): Promise<Report>;
}

export async function startAbuseWorld(): Promise<AbuseWorld> {
  const world = await startStaffWorld({ SKERRY_ABUSE_FORM: 'true', SKERRY_SIGNUPS_PER_HOUR: '5' });
  const support = await world.person('support');
  const staff = (method: string, path: string, body?: object) => world.api(support.token, method, path, body);
  const inHours = (hours: number) =>
    formatRfc3339(new Date(world.opened.service.clock.now().getTime() + hours * HOUR_MS));
  const order = async (customer: SessionClient) => {
    const ordered = await customer.post('/deploy-api.php', {
      ...{ product: 'vps', plan: 's1', region: 'par', os: 'debian', billing: 1 },
      root_password: 'a root password',
    });
    assert.equal(ordered.body.ok, true, JSON.stringify(ordered.body));
    await world.settle();
    const { body } = await staff('GET', `/servers?customer=${customer.email}`);
    return (body.data as OrderedServer[])[0] ?? assert.fail('no server');
  };
  const owner = await world.customer(60);
  const server = await order(owner);
  return {
    ...{ ...world, support, staff, inHours, order, owner, server },
    // The getter of the world fails without simulated machines.
    get simulator() {
      return world.simulator;
    },
    other: await world.customer(60),
    ofOwner: V1Client.forUrl(world.url, await createApiToken(owner)),
    record: async (more = {}) => {
      const made = await staff('POST', '/abuse_reports', {
        ...{ kind: 'spam', address: server.ipv4, time: inHours(0), evidence: 'At 12:00.\nReceived: x' },
        ...more,
      });
      assert.equal(made.status, 201, JSON.stringify(made.body));
      return made.body as unknown as Report;
    },
    read: async ({ id }) => (await staff('GET', `/abuse_reports/${id}`)).body as unknown as Report,
    act: async ({ id }, verb, body) => {
      const done = await staff('POST', `/abuse_reports/${id}/${verb}`, body);
      assert.equal(done.status, 200, JSON.stringify(done.body));
      return done.body as unknown as Report;
    },
  };
}
