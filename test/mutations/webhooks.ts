/** Faults in events, webhooks, and mail. */
import type { Mutation } from './mutation.ts';

export const WEBHOOKS: readonly Mutation[] = [
  {
    name: 'a delivery has a seventh attempt',
    file: 'src/domain/webhooks/attempt.ts',
    find: [
      'attempt >= LIMITS.webhookAttemptsMax) return undefined;',
      '  const minutes = LIMITS.webhookBackoffMinutes[attempt - 1];',
    ].join('\n'),
    replace: [
      'attempt > LIMITS.webhookAttemptsMax) return undefined;',
      '  const minutes = LIMITS.webhookBackoffMinutes[attempt - 1] ?? 1;',
    ].join('\n'),
    caughtBy: {
      file: 'test/workers/deliver-many.test.ts',
      name: 'every event to every kind of receiver is delivered, given up, or canceled,',
    },
    budgetS: 60,
    figure: 'events',
  },
  {
    name: 'a retry has a delivery id of its own',
    file: 'src/store/webhooks/deliveries.ts',
    find: 'select retry_id, delivery_id, webhook_id,',
    replace: 'select retry_id, retry_id, webhook_id,',
    caughtBy: {
      file: 'test/workers/deliver.test.ts',
      name: 'a failing delivery has six attempts under one id, then is given up',
    },
    budgetS: 40,
    figure: 'events',
  },
  {
    name: 'two processes number events at once',
    file: 'src/store/events/fan-out.ts',
    find: "  await tx.rows('select pg_advisory_xact_lock($1::bigint)', [FAN_OUT_LOCK]);\n",
    replace: '  void tx;\n',
    caughtBy: {
      file: 'test/workers/deliver.test.ts',
      name: 'any number of processes send each delivery once, numbered in order without gaps',
    },
    budgetS: 60,
    figure: 'events',
  },
  {
    name: 'two processes lease the same queue',
    file: 'src/store/webhooks/queues.ts',
    find: '             and (leased_until is null or leased_until <= clock_timestamp())\n',
    replace: '',
    caughtBy: {
      file: 'test/workers/deliver.test.ts',
      name: 'any number of processes send each delivery once, numbered in order without gaps',
    },
    budgetS: 60,
    figure: 'events',
  },
  {
    name: 'a 410 response does not end a webhook',
    file: 'src/domain/webhooks/attempt.ts',
    find: 'const GONE = 410;',
    replace: 'const GONE = 418;',
    caughtBy: {
      file: 'test/workers/deliver-subscription.test.ts',
      name: 'a 410 response pauses the subscription, cancels its queue, and notifies its',
    },
    budgetS: 30,
    figure: 'events',
  },
  {
    name: 'dead endpoints take the slots of the others',
    file: 'src/workers/delivery-lanes.ts',
    find: 'QUICK_BATCHES_MAX - quick - excess',
    replace: 'QUICK_BATCHES_MAX - quick - slow',
    caughtBy: {
      file: 'test/workers/deliver-fair.test.ts',
      name: 'more dead endpoints than slots do not delay a responsive endpoint',
    },
    budgetS: 90,
    figure: 'events',
  },
  {
    name: 'a mail of one cause is queued twice',
    file: 'src/store/mails.ts',
    find: 'values ($id, $customerId, $kind, $cause, $urgent',
    replace: 'values ($id, $customerId, $kind, $cause || random()::text, $urgent',
    caughtBy: {
      file: 'test/workers/mail.test.ts',
      name: 'a mail is sent once per cause, and its text and address are deleted afterwards',
    },
    budgetS: 40,
    figure: 'kills',
  },
  {
    name: 'a mail that may have arrived is sent again',
    file: 'src/domain/mail/send.ts',
    find: "if (mail.status === 'sending') return",
    replace: 'if (mail.attempts < 0) return',
    caughtBy: {
      file: 'test/workers/mail.test.ts',
      name: 'a mail that was handed over without a response is never sent again',
    },
    budgetS: 40,
    figure: 'steps',
  },
];
