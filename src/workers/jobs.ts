/** All background jobs of a service, and the short ones among them. */
import { nextCalendarDue, sweepCalendar } from '../domain/billing/sweep.ts';
import type { Service } from '../domain/context.ts';
import { fanOutEvents } from '../domain/events/fan-out.ts';
import { renewCertificates } from '../domain/inventory/host-certificates.ts';
import { refreshHostFacts } from '../domain/inventory/host-facts.ts';
import { sampleServers } from '../domain/servers/metrics.ts';
import { sealPlainInputs } from '../domain/staff/approval-inputs.ts';
import { runExclusively } from '../domain/upkeep/exclusive.ts';
import { resealSecrets } from '../domain/upkeep/reseal.ts';
import { HOUR_MS, SECOND_MS } from '../kernel/time.ts';
import type { WebhookSender } from '../ports/webhooks.ts';
import { SEALED_COLUMNS } from '../spec/sealed.ts';
import { hasUnnumberedEvents } from '../store/events/fan-out.ts';
import { auditChainJob } from './audit-chain.ts';
import { deliverJob } from './deliver.ts';
import { expireTopupsJob } from './expire-topups.ts';
import { archiveLogJob, backUpJob } from './files/back-up.ts';
import { copySnapshotsJob } from './files/copy-snapshots.ts';
import { sendImagesJob } from './files/send-images.ts';
import { sweepFilesJob } from './files/sweep-files.ts';
import { floodsJob, liftBlackholesJob } from './floods.ts';
import { atMostEvery, housekeepingJob, type Job } from './job.ts';
import { mailJob } from './mail.ts';
import { mailingsJob } from './mailings.ts';
import { measureAvailabilityJob, measureFiguresJob } from './measure.ts';
import { operateJob } from './operate.ts';
import { retainJob } from './retain.ts';
import { type Rounds, roundsJob, untilFailure } from './rounds.ts';
import { sampleMinutesJob } from './sample-minutes.ts';
import { superviseMachinesJob } from './supervise-machines.ts';
import { suspendLateJob } from './suspend-late.ts';
import { takeOverJob } from './take-over.ts';
import { tasksJob } from './tasks.ts';
import { throttleJob } from './throttle.ts';
import { watchJob } from './watch.ts';

/** After a long outage each server has 30 days of metrics: 18,000 rows per batch. */
const SAMPLE_BATCH_SIZE = 25;
/** A round that finds nothing takes one run. */
const RESEAL_BATCHES_PER_RUN = SEALED_COLUMNS.length;
const FLEET = { name: 'fleet', everyS: 15 } as const;
const HOST_FACTS = { name: 'host facts', everyS: 15, simulatedEveryS: 60 } as const;

/** Returns the jobs of every mode, in the order in which they run while a clock moves. */
export function commonJobs(service: Service, sender: WebhookSender): Job[] {
  return [
    watchJob(service),
    expireTopupsJob(service),
    // After the chains were read: payments are known before a server is suspended.
    renewJob(service),
    suspendLateJob(service),
    takeOverJob(service),
    operateJob(service),
    tasksJob(service),
    superviseMachinesJob(service),
    fleetJob(service),
    hostFactsJob(service),
    sendImagesJob(service),
    copySnapshotsJob(service),
    sampleJob(service),
    sampleMinutesJob(service),
    floodsJob(service),
    liftBlackholesJob(service),
    throttleJob(service),
    fanOutJob(service),
    deliverJob(service, sender),
    mailingsJob(service),
    mailJob(service),
    measureAvailabilityJob(service),
    measureFiguresJob(service),
    retainJob(service),
    resealJob(service),
    auditChainJob(service),
    sweepFilesJob(service),
    backUpJob(service),
    archiveLogJob(service),
  ];
}

/** Renews, suspends, and destroys servers by the billing calendar. */
export function renewJob(service: Service): Job {
  return {
    name: 'renew',
    run: () => sweepCalendar(service),
    nextDue: () => nextCalendarDue(service),
    busy: async () => false,
  };
}

/** Stores the metrics of servers. Nothing waits for them, so it plans no due dates. */
export function sampleJob(service: Service): Job {
  return housekeepingJob('sample', () => sampleServers(service, SAMPLE_BATCH_SIZE));
}

/**
 * Seals old secrets again, and inputs in plain text, at the start and then every hour: a process of the
 * previous version may still run during an upgrade.
 */
export function resealJob(service: Service): Job {
  return roundsJob('reseal', resealRounds(service), RESEAL_BATCHES_PER_RUN);
}

async function* resealRounds(service: Service): Rounds {
  for (;;) {
    const nextAt = performance.now() + HOUR_MS;
    yield* untilFailure(sealPlainInputs(service));
    yield* untilFailure(resealSecrets(service));
    while (performance.now() < nextAt) yield null;
  }
}

/** Renews the certificates of hosts on other machines, in real time. */
export function fleetJob(service: Service): Job {
  const run = atMostEvery(FLEET.everyS * SECOND_MS, () =>
    runExclusively(service, FLEET, () => renewCertificates(service)),
  );
  return housekeepingJob(FLEET.name, async () => {
    // Simulated machines have no other hosts.
    if (service.compute.hosts !== null) await run();
    return 0;
  });
}

/** Learns facts about hosts, in real time. Those of simulated hosts hardly change, and can wait. */
export function hostFactsJob(service: Service): Job {
  const hasRealMachines = service.compute.hosts !== null;
  const { name, everyS: realEveryS, simulatedEveryS } = HOST_FACTS;
  const everyS = hasRealMachines ? realEveryS : simulatedEveryS;
  const run = atMostEvery(
    everyS * SECOND_MS,
    () => runExclusively(service, { name, everyS }, () => refreshHostFacts(service)),
    { startsAtOnce: hasRealMachines },
  );
  return housekeepingJob(name, () => run().then(() => 0));
}

/** Numbers committed events and queues them for webhooks. */
export function fanOutJob(service: Service): Job {
  return {
    name: 'fan-out',
    follows: true,
    run: async () => {
      const events = await fanOutEvents(service);
      // Wake senders and streams in every process.
      if (events > 0) service.wake();
      return events;
    },
    nextDue: async () => null,
    busy: () => hasUnnumberedEvents(service.db),
  };
}
