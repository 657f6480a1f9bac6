/** How the end of a reboot is known, into the server's own system or the rescue system. */
import { isApiError, type Server, type Skerry, type StreamedEvent } from '@skerry/sdk';
import { Failure } from '../../exit-codes.ts';
import { failIfGivenUp } from './wait-for-server.ts';

export function isRestartEvent({ type, data }: StreamedEvent, id: string): boolean {
  return type === 'server.rebooted' && data.server?.id === id;
}

/** Where the event is not heard: what was done to a server changes its `updated_at`, even where its status stays. */
export async function hasRestarted(
  skerry: Skerry,
  before: Server,
  operation: 'reboot' | 'rescue',
): Promise<boolean> {
  const seen = await skerry.servers.get(before.id).catch((error: unknown) => {
    if (isApiError(error, 'not_found')) throw new Failure('failed', `${before.name} is gone`);
    throw error;
  });
  if (seen.status !== 'running') throw new Failure('failed', `${before.name} is ${seen.status} by now`);
  await failIfGivenUp(skerry, seen, operation);
  return seen.updated_at !== before.updated_at;
}
