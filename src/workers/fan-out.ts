/** Numbers committed events and queues them for webhooks. */
import type { Service } from '../domain/context.ts';
import { fanOutEvents } from '../domain/events/fan-out.ts';
import { hasUnnumberedEvents } from '../store/events/fan-out.ts';
import type { Job } from './job.ts';

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
