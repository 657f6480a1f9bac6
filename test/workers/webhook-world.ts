/** Customers with webhooks to a local receiver, and the jobs that deliver events there. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import type { ScopedActor, Service } from '../../src/domain/context.ts';
import { recordEvent } from '../../src/domain/record.ts';
import { createWebhook } from '../../src/domain/webhooks/change.ts';
import { listDeliveries } from '../../src/domain/webhooks/read.ts';
import { HttpsSender } from '../../src/drivers/webhooks/https.ts';
import { parseId } from '../../src/kernel/ids.ts';
import { createLogger } from '../../src/kernel/logger.ts';
import type { EventType } from '../../src/spec/events.ts';
import type { CreatedWebhook, CreateWebhook, Delivery } from '../../src/spec/schemas/webhook.ts';
import { deliverJob } from '../../src/workers/deliver.ts';
import { JobRunner } from '../../src/workers/job-runner.ts';
import { fanOutJob } from '../../src/workers/jobs.ts';
import { startTestService, type TestService } from '../support/test-service.ts';
import { type ReceivedRequest, WebhookReceiver } from '../support/webhook-receiver.ts';

const IDLE_MAX_MS = 30_000;
/** Enough time for a working receiver on a busy machine. */
const TIMEOUT_MS = 1_000;

export interface WebhookWorld {
  readonly fixture: TestService;
  readonly service: Service;
  readonly receiver: WebhookReceiver;
  readonly runner: JobRunner;
  /** Starts the jobs of another process on the same database. */
  startRunner(): JobRunner;
  customer(): Promise<ScopedActor>;
  webhook(actor: ScopedActor, url: string, more?: Partial<CreateWebhook>): Promise<CreatedWebhook>;
  publish(actor: ScopedActor, count?: number, type?: EventType): Promise<void>;
  /** Delivers everything that is due now. */
  runUntilIdle(): Promise<void>;
  log(actor: ScopedActor, webhook: { readonly id: string }): Promise<Delivery[]>;
  close(): Promise<void>;
}

export async function webhookWorld({ timeoutMs = TIMEOUT_MS, poolSize = 8 } = {}): Promise<WebhookWorld> {
  const fixture = await startTestService({ poolSize });
  const receiver = await WebhookReceiver.start();
  const settings = { ...fixture.service.settings, webhookAllowLoopback: true };
  let runner: JobRunner;
  const service: Service = { ...fixture.service, settings, wake: () => runner.wake() };
  const runners: JobRunner[] = [];
  const start = (): JobRunner => {
    const ca = receiver.authority.cert;
    const sender = new HttpsSender({ timeoutMs, allowLoopback: true, ca });
    const jobs = [fanOutJob(service), deliverJob(service, sender, { stopMs: 300 })];
    const started = new JobRunner({ jobs, pollMs: 50, log: createLogger('silent') });
    runners.push(started);
    return started;
  };
  runner = start();
  const world: WebhookWorld = {
    fixture,
    service,
    receiver,
    runner,
    startRunner: start,
    customer: () => fixture.fixtures.addCustomer(),
    webhook: (actor, url, more = {}) => createWebhook(service, actor, { url, events: ['*'], ...more }),
    publish: async ({ customerId }, count = 1, type = 'server.running') => {
      const now = fixture.clock.now();
      for (let n = 0; n < count; n++) {
        await recordEvent(fixture.db, { customerId, type, object: { id: 'srv_x', n } }, now);
      }
    },
    runUntilIdle: async () => {
      assert.ok(await runner.runUntilIdle(IDLE_MAX_MS), 'webhooks did not become idle');
    },
    log: async (actor, webhook) => {
      const page = { filter: {}, sort: 'created_at', descending: false, after: null, size: 1_000 };
      return (await listDeliveries(service, actor, webhook.id, page)).items;
    },
    close: async () => {
      for (const one of runners) await one.stop();
      await receiver.stop();
      await fixture.close();
    },
  };
  return world;
}

export function stored(webhook: { readonly id: string }): string {
  return parseId('webhook', webhook.id) ?? assert.fail('invalid webhook id');
}

export const eventId = (one: ReceivedRequest): string => JSON.parse(one.body).id;
/** Summarizes each attempt: its number, its status, and its HTTP status or error. */
export const lines = (log: readonly Delivery[]) =>
  log.map(({ attempt, status, http_status, error }) => [attempt, status, http_status ?? error]);

export const SIGNATURE = 'x-service-signature';
export const NEXT_SIGNATURE = 'x-service-signature-next';

export function assertSigned(one: ReceivedRequest, secret: string, header = SIGNATURE): void {
  const [, t = '', v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(one.headers[header])) ?? [];
  assert.ok(Math.abs(Number(t) - Date.now() / 1_000) < 10, `t is ${t}`);
  assert.equal(v1, createHmac('sha256', secret).update(`${t}.${one.body}`).digest('hex'));
}
