/** Valid and invalid requests generated from the published document, against a running service. */
import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { verify } from '../../../src/domain/verify/verify.ts';
import { byLevel, PROPERTY_RUNS } from '../../support/runs.ts';
import { startWorld, type World } from '../../support/world.ts';
import { Estate } from './fuzz-estate.ts';
import { RAW_REQUESTS, sendRaw } from './fuzz-raw-http.ts';
import { FUZZ_REQUESTS } from './fuzz-requests.ts';
import { sendAndCheck } from './fuzz-send.ts';

/** Requests in flight. */
const BATCH = 16;
/** After this many batches, a new customer sends the requests. */
const ROUND = 100;
const BATCHES = byLevel({ sample: 10, full: 4_000 / BATCH, soak: 100_000 / BATCH });
const CONNECTIONS = 8;
const RESPONSE_MAX_MS = 10_000;

const UNLIMITED = {
  SKERRY_RATE_CAPACITY: '1000000',
  SKERRY_RATE_REFILL_PER_S: '1000000',
  SKERRY_PROVISION_RATE_CAPACITY: '1000000',
  SKERRY_PROVISION_RATE_REFILL_PER_S: '1000000',
};

describe('generated requests to the REST surface', () => {
  let world: World;
  const agent = new Agent({ keepAlive: true, maxSockets: BATCH });
  before(async () => {
    const quick = { SKERRY_ADDRESS_REST_DAYS: '0', SKERRY_SIM_INSTALL_S: '0' };
    // At this level, only internal errors are logged.
    world = await startWorld({ ...UNLIMITED, ...quick, SKERRY_LOG_LEVEL: 'error' });
  });
  after(async () => {
    agent.destroy();
    await world.close();
  });

  async function assertSound(): Promise<void> {
    const broken = (await verify(world.opened.service)).filter((finding) => finding.broken > 0n);
    assert.deepEqual(
      broken.map(({ invariant, examples }) => ({ broken: invariant.name, examples })),
      [],
    );
  }

  it(`${BATCHES * BATCH} generated requests get timely responses within the contract`, async () => {
    let estate = await Estate.found(world, null);
    let batches = 0;
    const batch = fc.array(FUZZ_REQUESTS, { minLength: BATCH, maxLength: BATCH });
    const answered = fc.asyncProperty(batch, async (requests) => {
      const outcomes = await Promise.allSettled(
        requests.map((fuzzRequest) => sendAndCheck(world, agent, estate, fuzzRequest)),
      );
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    });
    answered.beforeEach(async () => {
      batches += 1;
      if (batches % ROUND !== 0) return;
      await assertSound();
      estate = await Estate.found(world, estate);
    });
    await fc.assert(answered, { numRuns: BATCHES });
    await world.settle();
    await assertSound();
  });

  it('malformed HTTP is rejected in JSON, and the next request is served', async () => {
    const port = Number(new URL(world.url).port);
    const texts = fc.array(RAW_REQUESTS, { minLength: CONNECTIONS, maxLength: CONNECTIONS });
    await fc.assert(
      fc.asyncProperty(texts, async (batch) => {
        const begun = performance.now();
        const answers = await Promise.all(batch.map((text) => sendRaw(port, text)));
        assert.ok(performance.now() - begun < RESPONSE_MAX_MS, 'a connection was kept open');
        for (const answer of answers) {
          const statuses = [...answer.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map((match) => Number(match[1]));
          assert.ok(answer === '' || statuses.length > 0, answer);
          assert.ok(
            statuses.every((status) => status < 500 && ![405, 408, 413, 417, 431].includes(status)),
            answer,
          );
          if (statuses.some((status) => status >= 400)) assert.match(answer, /"(?:error|ok)":/);
        }
      }),
      { numRuns: PROPERTY_RUNS },
    );
    assert.equal((await fetch(`${world.url}/healthz`)).status, 200);
    await assertSound();
  });
});
