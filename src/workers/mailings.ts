/** Queues the mails of mailings that staff started, at their rate. The mail job sends them. */
import type { Service } from '../domain/context.ts';
import { advanceMailings } from '../domain/customers/talking/send-mailings.ts';
import { isSwitchOn } from '../domain/rules/switches.ts';
import { nextMailingAt } from '../store/customers/mailings.ts';
import type { Job } from './job.ts';

export function mailingsJob(service: Service): Job {
  // With the switch off no mail leaves the queue, so none is added.
  const isEnabled = () => isSwitchOn(service.db, 'mail');
  return {
    name: 'mailings',
    run: async () => {
      if (!(await isEnabled())) return 0;
      const done = await advanceMailings(service);
      if (done > 0) service.wake();
      return done;
    },
    nextDue: async () => ((await isEnabled()) ? await nextMailingAt(service.db) : null),
    busy: async () => false,
  };
}
