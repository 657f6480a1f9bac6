/** Waits for the end of a server's action, and shows the server. */
import type { Server } from '@skerry/sdk';
import type { Context } from '../../command.ts';
import { nullIf } from '../../find.ts';
import type { WaitFlags } from '../../terminal/wait.ts';
import { waitForBegun } from '../../terminal/wait-for-action.ts';
import { SERVER_COLUMNS } from './show.ts';

/** How a server shows that an operation has ended, where there are no actions. */
const ENDS = {
  running: (seen) => seen?.status === 'running',
  stopped: (seen) => seen?.status === 'stopped',
  installed: (seen) => seen?.status === 'running' || seen?.status === 'stopped',
  // The status is the same before and after.
  restarted: (seen, begun) => seen?.status === 'running' && seen.updated_at !== begun.updated_at,
  deleted: (seen) => seen === null,
} satisfies Record<string, (seen: Server | null, begun: Server) => boolean>;

/** `show` receives the server at the end, or as it was last if the wait ends early; default: its row. */
export async function waitForServer(
  context: Context,
  waits: WaitFlags,
  begun: Server,
  end: keyof typeof ENDS,
  show: (last: Server) => void = (last) => context.output.showRow(last, SERVER_COLUMNS),
): Promise<Server> {
  const { id, name } = begun;
  const refresh = (signal: AbortSignal) => nullIf('not_found', context.skerry.servers.get(id, { signal }));
  const isDone = (seen: Server | null) => ENDS[end](seen, begun);
  return await waitForBegun(context, waits, begun, { name, refresh, isDone, show });
}
