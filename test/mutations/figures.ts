/**
 * The reliability figures of the service: the rows of docs/contributors/reliability.md, which `npm run docs`
 * writes from this table. Each figure has tests, and mutations that its tests must catch.
 */
import type { Figure } from './figure.ts';
import { SECURITY } from './security-figures.ts';

export const RELIABILITY = {
  kills: {
    title: 'Kills at any place',
    what:
      'The process is killed before and after each commit and each driver call of orders, renewals, ' +
      'credits, deliveries, and changes, and at 100 random moments.',
    holds:
      'Every balance is the sum of its transfers, the books sum to 0, each cycle is charged once, and no ' +
      'server, address, or deposit address is lost or held twice.',
    tests: [
      { file: 'test/process/crash.test.ts', name: 'completes ' },
      { file: 'test/process/crash-time.test.ts', name: ' loses nothing and repeats nothing' },
      { file: 'test/process/crash-random.test.ts', name: 'loses no event and repeats nothing' },
      { file: 'test/process/kill-effects.test.ts', name: 'reach every driver call that changes something' },
      { file: 'test/workers/host-kills.test.ts', name: 'no machine exists twice, none is lost, and a' },
      {
        file: 'test/domain/topups/settlement/crash.test.ts',
        name: 'a payment is credited once after a crash',
      },
    ],
    whole: 'soak',
    below: 'Full runs take a third of the scenarios, two places of each, and 5 random moments.',
  },
  steps: {
    title: 'Steps that run twice',
    what: 'Each step of a worker runs twice, loses its lease, and fails together with its undoing.',
    holds: 'One effect, or none: no machine, charge, event, or address is left over.',
    tests: [
      {
        file: 'test/domain/servers/operations/steps-twice.test.ts',
        name: 'takes effect once when its worker',
      },
      {
        file: 'test/domain/servers/resize/steps-twice.test.ts',
        name: 'takes effect once when its worker dies',
      },
      { file: 'test/domain/servers/iso/steps-twice.test.ts', name: 'takes effect once when its worker dies' },
      { file: 'test/domain/servers/lost/steps-twice.test.ts', name: 'is placed once by two workers' },
      {
        file: 'test/domain/volumes/ensure.test.ts',
        name: 'takes effect once despite kills and driver faults',
      },
    ],
    whole: 'sample',
  },
  deploys: {
    title: 'Orders at once',
    what: '2,000 orders at the same moment over both APIs, with a balance for 7, for 20 seeds.',
    holds: 'Exactly 7 servers, 7 charges, and the rest of the balance.',
    tests: [
      { file: 'test/main-job-races.test.ts', name: 'sell exactly the ' },
      {
        file: 'test/domain/servers/deploy/deploy-races.test.ts',
        name: 'a balance for seven servers buys exactly seven of sixty concurrent orders',
      },
    ],
    whole: 'soak',
    below: 'Full runs have 2 seeds, `npm test` one with 200 orders.',
  },
  one_key: {
    title: 'One Idempotency-Key',
    what: '1,000 requests in flight with one Idempotency-Key, 20 times, with a process killed midway.',
    holds: 'One effect, and identical responses.',
    tests: [
      { file: 'test/process/idempotency.test.ts', name: 'have one effect even when a process is killed' },
      {
        file: 'test/domain/idempotency-races.test.ts',
        name: 'concurrent requests in any number of processes',
      },
    ],
    whole: 'soak',
    below: 'Full runs have 300 requests in flight, 10 times.',
  },
  fuzz: {
    title: 'Generated requests',
    what: '100,000 requests generated from the OpenAPI document.',
    holds: 'No 5xx, no response after more than 2 seconds, and each one within the contract.',
    tests: [
      {
        file: 'test/http/v1/fuzz.test.ts',
        name: 'generated requests get timely responses within the contract',
      },
      { file: 'test/http/bad-input.test.ts', name: 'gets a response in the shape of the contract' },
    ],
    whole: 'soak',
    below: 'Full runs have 4,000 requests and, because the machine is shared, 10 seconds for each.',
  },
  malformed: {
    title: 'Malformed input',
    what: '5,000 bodies with one fault, at every route that has a body.',
    holds: 'A 4xx that names the field.',
    tests: [
      { file: 'test/http/v1/malformed.test.ts', name: 'malformed bodies gets a 4xx that names the field' },
    ],
    whole: 'full',
    below: '`npm test` has 300.',
  },
  restarts: {
    title: 'Restarts of the database',
    what: 'The database is killed, shut down, and frozen 100 times under load, and the process is killed.',
    holds:
      'No acknowledged change is lost, no request is without an answer, and the service is ready 5 seconds ' +
      'after its database.',
    tests: [
      { file: 'test/process/unshaken.test.ts', name: 'every request is answered or refused, and no' },
      { file: 'test/http/admission/deadlines.test.ts', name: 'a change whose commit is not confirmed' },
    ],
    whole: 'soak',
    below: 'Full runs have 4 faults of each kind and, because the machine is shared, 20 seconds.',
  },
  clock: {
    title: 'Jumps of the clock',
    what:
      'The clock jumps by an hour and by 31 days, back and forth, over month ends and a leap day. The ' +
      'clock of a machine is wrong, and the time of a live service leaps.',
    holds: 'Each cycle that ended is charged once, and none early.',
    tests: [
      { file: 'test/domain/billing/jumps.test.ts', name: 'every ended cycle is charged exactly once' },
      { file: 'test/domain/billing/renewals.test.ts', name: 'renewals missed during downtime happen cycle' },
      { file: 'test/kernel/time.test.ts', name: 'a cycle ends on February 29 only in leap years' },
      { file: 'test/compose/clock.test.ts', name: ' uses the time of the database' },
      { file: 'test/domain/billing/leap.test.ts', name: 'charges nothing and deletes nothing until staff' },
    ],
    whole: 'full',
    below: '`npm test` has one random list of jumps, full runs 60.',
  },
  events: {
    title: 'Events to all kinds of receivers',
    what: '100,000 events to receivers that answer 200, 500, or 410, hang, reset, or drip.',
    holds:
      'Published is delivered, pending, given up, or canceled. A delivery keeps its id and has at most 6 ' +
      'attempts. Dead receivers do not delay the others.',
    tests: [
      {
        file: 'test/workers/deliver-many.test.ts',
        name: 'every event to every kind of receiver is delivered',
      },
      { file: 'test/workers/deliver-fair.test.ts', name: 'more dead endpoints than slots do not delay' },
      { file: 'test/workers/deliver.test.ts', name: 'a failing delivery has six attempts under one id' },
    ],
    whole: 'soak',
    below: 'Full runs have 4,000 events.',
  },
  chains: {
    title: 'Chain scripts',
    what:
      '200 chain scripts: reorganizations up to two blocks deeper than the confirmations, and payments ' +
      'that are replaced, late, too low, too high, dust, reported twice, or seen by a node that went back.',
    holds: 'Each valid payment is credited once, and reversed when it leaves the chain.',
    tests: [
      {
        file: 'test/domain/topups/settlement/property.test.ts',
        name: 'after any chain script, exactly the valid',
      },
      { file: 'test/domain/topups/settlement/reorg.test.ts', name: 'a credited payment dropped by a reorg' },
      {
        file: 'test/drivers/chain/block-walk-property.test.ts',
        name: 'a block walk ends with the correct block',
      },
    ],
    whole: 'soak',
    below: 'Full runs have 40 scripts.',
  },
  model: {
    title: 'Ledger and model',
    what: '50 random histories of 10,000 credits, charges, reversals, and repetitions.',
    holds: 'The database equals a plain model, and the books sum to 0.',
    tests: [
      {
        file: 'test/domain/ledger/model.test.ts',
        name: 'after any history, the ledger matches a plain model',
      },
      { file: 'test/lifecycle/lifecycle.test.ts', name: 'matches a plain model of the rules' },
    ],
    whole: 'soak',
    below: 'Full runs have 40 histories of up to 200 steps, and 10 customer years of up to 80 commands.',
  },
  faults: {
    title: 'Faults of disk, database, and hypervisor',
    what: 'A full disk, 1 % of database statements that fail, and a slow hypervisor.',
    holds: '503, never a false success, and a slow host delays no other.',
    tests: [
      { file: 'test/http/v1/database-errors.test.ts', name: 'a service whose database fails in 1 % of' },
      { file: 'test/domain/images/upload.test.ts', name: 'an upload to a full disk is refused' },
      { file: 'test/store/connections/readiness.test.ts', name: 'a check writes pages of a temporary file' },
      { file: 'test/workers/operate-slow.test.ts', name: 'a slow host does not delay steps of servers on' },
    ],
    whole: 'sample',
  },
} as const satisfies Readonly<Record<string, Figure>>;

/** All figures, by id. */
export const FIGURES = { ...RELIABILITY, ...SECURITY };
export type FigureId = keyof typeof FIGURES;
