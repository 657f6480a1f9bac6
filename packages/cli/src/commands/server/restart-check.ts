/** Detects the end of a restart, into the server's own system or the rescue system. */
import { isApiError, type Server, type Skerry, type StreamedEvent } from '@skerry/sdk';
import { Failure } from '../../exit-codes.ts';
import { failIfGivenUp } from './wait-for-server.ts';

export function isRestartEvent({ type, data }: StreamedEvent, id: string): boolean {
  return type === 'server.rebooted' && data.server?.id === id;
}

/** Works without events: an operation changes `updated_at` even if the status stays the same. */
export async function hasRestarted(
  skerry: Skerry,
  before: Server,
  operation: 'reboot' | 'rescue',
): Promise<boolean> {
  const seen = await skerry.servers.get(before.id).catch((error: unknown) => {
    if (isApiError(error, 'not_found')) throw new Failure('failed', `${before.name} was deleted`);
    throw error;
  });
  if (seen.status !== 'running') throw new Failure('failed', `${before.name} is ${seen.status}, not running`);
  await failIfGivenUp(skerry, seen, operation);
  return seen.updated_at !== before.updated_at;
}
